//! The committed seeds, and some that are cut short, through every target: what holds without libFuzzer.

use std::path::Path;

#[test]
fn every_seed_passes_its_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for (name, target) in fuzz::TARGETS {
        let seeds: Vec<_> = std::fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(seeds.len() >= 2, "{name} has {} seeds", seeds.len());
        for seed in seeds {
            let data = std::fs::read(&seed).unwrap();
            target(&data);
            for cut in [1, data.len() / 3, data.len() / 2, data.len().saturating_sub(1)] {
                target(&data[..cut.min(data.len())]);
            }
        }
        target(&[]);
    }
}
