//! Any bytes are a checkpoint or an error, and a checkpoint that loads can be saved again.
//!
//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz checkpoint tests/fuzz/corpus tests/golden -- -max_total_time=60`
#![no_main]

use libfuzzer_sys::fuzz_target;
use webgpu_optim::checkpoint;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(state) = checkpoint::load(bytes) {
        let again = checkpoint::save(&state, &[], None).expect("what loads can be saved");
        checkpoint::load(&again).expect("what was saved can be loaded");
    }
});
