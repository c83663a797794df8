//! Watermarks, and the copies that software keeps of them, to the byte.

use super::given::{Ran, Word};
use rig_capture::Span;

/// A held queue to which 150 frames of 1024 B come, five cells of 208 B each.
fn filled(watermark: &str, end: &str, measure: &str) -> Ran {
    Ran::of(
        "broadcom",
        &format!(
            "    dut: {{pfcwd: {{detection_time: 5000ms}}, buffer: {{pool: 1000000B, lossy_pool: 1000000B}}{watermark}}}
    streams: {{fill: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 20us, count: 150}}}}
    storms: {{hold: {{from: p2, classes: [3]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    trials: 1
    steps:
      - {{at: 0ms, start: hold}}
      - {{at: 20ms, start: fill}}
      - {{at: 33ms, stop: hold}}
{end}    measure: [{{{measure}: {{stream: fill}}}}]
"
        ),
    )
}

/// A lone group has a ninth of the pool: it crosses with frame 107, and this much is below the limit.
const SHARED: u64 = 111_072;
const HELD: u64 = 150 * 5 * 208;

#[test]
fn each_watermark_is_right_to_the_byte() {
    let ran = filled("", "    length: 60ms\n", "buffer.watermarks");
    assert_eq!(ran.as_seen().word("buffer.watermarks"), Word::Pass);
    for counter in [
        "Ethernet4:3 SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES",
        "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
        "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES",
        "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS",
        "ingress_lossless_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES",
    ] {
        for by in [1, -1] {
            let said = ran.changed(|seen| seen.count(counter, by));
            assert!(said.fails("buffer.watermarks"), "{counter} {by}");
        }
    }
}

#[test]
fn each_copy_is_right_to_the_byte() {
    let end = "      - {at: 160ms, clear: user}\n    length: 300ms\n";
    let ran = filled(", watermark: {poll: 100ms, telemetry: 2000ms}", end, "watermarks.copies");
    let queue = "Ethernet4:3 SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES";
    let group = "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES";
    let kept = Span::exactly;
    let open = |most: u64| Span { lo: 0, hi: most };
    for (what, table, chip, want) in [
        ("queue", "PERSISTENT_WATERMARKS", queue, kept(HELD)),
        ("group", "PERSISTENT_WATERMARKS", group, kept(SHARED)),
        ("queue", "USER_WATERMARKS", queue, kept(0)),
        ("group", "USER_WATERMARKS", group, kept(0)),
        // Whether telemetry has started afresh since depends on its phase.
        ("queue", "PERIODIC_WATERMARKS", queue, open(HELD)),
        ("group", "PERIODIC_WATERMARKS", group, open(SHARED)),
    ] {
        let subject = format!("fill: {what} in {table}");
        let (read, wanted, _) = ran.as_seen().about("watermarks.copies", &subject);
        assert_eq!(wanted, want, "{subject}");
        let passes = |value: u64| {
            let by = i64::try_from(value).expect("bytes") - i64::try_from(read.lo).expect("bytes");
            let said = ran.changed(|seen| seen.count(&format!("{table} {chip}"), by));
            said.about("watermarks.copies", &subject).2
        };
        assert!(passes(want.lo) && passes(want.hi) && !passes(want.hi + 1), "{subject}");
        assert!(want.lo == 0 || !passes(want.lo - 1), "{subject}");
    }
}
