//! Tests of the live line.

use super::*;
use crate::console::Console;

fn tick() -> Tick {
    Tick {
        elapsed: Duration::from_secs(30),
        ops: 250_000,
        ops_wanted: Some(1_000_000),
        duration: None,
        stall: Duration::from_millis(1500),
        is_warming: false,
    }
}

#[test]
fn line_says_how_far_how_fast_and_how_long() {
    // A quarter in 30 s leaves 90 s.
    assert_eq!(
        line("fillrandom", &tick(), 8333.3),
        "fillrandom   :  25.0 %  8.33 k op/s  ETA 1:30  stalled 1.5 s"
    );
}

#[test]
fn nothing_is_drawn_when_nobody_watches() {
    // Piped to a file the stream stays empty; on a terminal the line is drawn and taken away.
    for is_live in [false, true] {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let console = Console::new(&mut out, &mut err, is_live);
        let mut live = Live::new(&console.err, "x");
        live.tick(&tick());
        live.end();
        assert_eq!(!err.is_empty(), is_live);
    }
}
