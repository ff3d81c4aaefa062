//! The main job: `lotwire demo`.

use std::process::Command;

use serde_json::Value;
use testkit::server::built_binary;

#[test]
fn the_demonstration_ends_well_and_prints_its_summary_last() {
    let output = Command::new(built_binary("lotwire").unwrap())
        .args([
            "demo",
            "--exit",
            "--json",
            "--lots",
            "12",
            "--platform-listen",
            "127.0.0.1:0",
            "--provider-listen",
            "127.0.0.1:0",
        ])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{err}");
    let summary: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    let keys: Vec<&str> = summary.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["expected", "received", "lost", "duplicates", "invalid", "out_of_order", "p50_ms", "p99_ms"]);
    assert_eq!(summary["expected"], summary["received"]);
    assert!(summary["expected"].as_u64().unwrap() >= 12 + 6, "{summary}");
    for part in ["consumer application app_", "events expected", "hammer to receipt"] {
        assert!(err.contains(part), "{part:?} is not in:\n{err}");
    }
}

#[test]
fn a_bad_catalogue_is_refused_with_its_lines() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.csv");
    std::fs::write(&file, "lot_number,title,opening_bid\n1,Vase,100\n2,,100\n3,Bowl,12.50\n").unwrap();
    let output = Command::new(built_binary("lotwire").unwrap())
        .args(["demo", "--exit", "--platform-listen", "127.0.0.1:0", "--provider-listen", "127.0.0.1:0", "--catalogue"])
        .arg(&file)
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    for part in ["line 3, title", "line 4, opening_bid"] {
        assert!(err.contains(part), "{part:?} is not in:\n{err}");
    }
}
