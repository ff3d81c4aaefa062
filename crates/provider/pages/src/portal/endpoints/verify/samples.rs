//! Sample code that verifies a signature: the files of the folder `verify`, which tests run.

/// A sample in one language.
#[derive(Debug)]
pub(super) struct Sample {
    /// Id of its element on the page.
    pub(super) id: &'static str,
    pub(super) language: &'static str,
    pub(super) file: &'static str,
    pub(super) code: &'static str,
}

macro_rules! sample {
    ($id:literal, $language:literal, $file:literal) => {
        sample!($id, $language, $file, $file)
    };
    ($id:literal, $language:literal, $file:literal, $path:literal) => {
        Sample {
            id: $id,
            language: $language,
            file: $file,
            code: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/verify/", $path)),
        }
    };
}

/// Every language, the most used first.
pub(super) const SAMPLES: &[Sample] = &[
    sample!("sample-javascript", "JavaScript", "verify.mjs"),
    sample!("sample-typescript", "TypeScript", "verify.mts"),
    sample!("sample-python", "Python", "verify.py"),
    sample!("sample-go", "Go", "verify.go"),
    sample!("sample-java", "Java", "Verify.java"),
    sample!("sample-csharp", "C#", "Verify.cs"),
    sample!("sample-php", "PHP", "verify.php"),
    sample!("sample-ruby", "Ruby", "verify.rb"),
    sample!("sample-rust", "Rust", "verify.rs"),
    sample!("sample-shell", "curl with openssl", "verify.sh"),
];

/// Samples that verify `v1a`, in the languages whose usual libraries have ed25519.
pub(super) const KEY_PAIR_SAMPLES: &[Sample] = &[
    sample!("sample-javascript", "JavaScript", "verify.mjs", "key-pair/verify.mjs"),
    sample!("sample-python", "Python", "verify.py", "key-pair/verify.py"),
    sample!("sample-go", "Go", "verify.go", "key-pair/verify.go"),
    sample!("sample-php", "PHP", "verify.php", "key-pair/verify.php"),
];
