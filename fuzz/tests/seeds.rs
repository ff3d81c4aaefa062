//! Runs every target on its committed seeds and on prefixes of them, without libFuzzer.

use std::path::Path;

#[test]
fn every_target_accepts_its_seeds_and_their_prefixes() {
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
