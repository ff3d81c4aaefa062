#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::event_type_import(data));
