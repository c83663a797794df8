use super::*;
use crate::pcapng::{Assume, Evidence, parse};
use crate::sample::{Sample, TRANSIT};
use crate::{Dir, Observation};
use rig_units::{Dur, PortSpeed};
use std::path::Path;

/// Probes over a second, more than wait at a time; of them the observation has every third.
fn many() -> (Observation, Script, Vec<Record>) {
    let mut sample = Sample::new();
    sample.probes(Dur::ZERO, Dur::s(25), |sent| Some(sent + TRANSIT));
    let (mut observation, script) = sample.done(Dur::s(25));
    let all = core::mem::take(&mut observation.records);
    observation.records = all.iter().copied().step_by(3).collect();
    (observation, script, all)
}

fn onto(path: &Path) -> Onto {
    Onto { path: path.to_owned(), file: File::create_new(path) }
}

/// Through a spool, in the order in which `all` has them.
fn spooled(path: &Path, script: &Script, all: &[Record], few: &[Record]) -> Spooled {
    let mut spool = Spool::create(onto(path), script);
    for record in all {
        spool.saw(*record, few.contains(record));
    }
    spool.finish()
}

const ASSUME: Assume<'static> =
    Assume { class_of: &|dscp| dscp, speed: PortSpeed::G10, cable: Dur::ZERO };

#[test]
fn every_frame_is_in_the_capture_in_order_and_a_comment_on_its_own() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let path = desk.path().join("0001.frames");
    let (observation, script, all) = many();
    assert!(all.len() > WAITING + WAITING / 2, "{}", all.len());
    // Told too early, as the model does of what is sent.
    let mut told = all.clone();
    for pair in told.chunks_mut(2) {
        pair.reverse();
    }
    let mut spool = Spool::create(onto(&path), &script);
    for (at, record) in told.iter().enumerate() {
        let at = if at + 1 == told.len() && told.len() % 2 == 1 { at } else { at ^ 1 };
        spool.saw(*record, at % 3 == 0);
    }
    let spooled = spool.finish();
    let evidence = Evidence::all(&observation, &script, &spooled);
    assert_eq!(evidence.frame(7), Some(FrameRef(22)));
    let mut bytes = Vec::new();
    let comments = [(7, "the eighth record".to_owned())];
    let written = evidence.write(&comments, &mut bytes).expect("memory");
    assert_eq!(written.frames, u64::try_from(all.len()).expect("few"));
    let read = parse("all.pcapng", &bytes, ASSUME).expect("a capture").observation;
    let places = |records: &[Record]| -> Vec<(u64, Dir)> {
        records.iter().map(|record| (record.at.0 / PS_PER_NS, record.dir)).collect()
    };
    assert!(places(&read.records) == places(&all), "another order");
    assert_eq!(read.integrity.cut, None);
    let said = bytes.windows(17).position(|text| text == b"the eighth record");
    let said = said.expect("the comment");
    let frames = parse("start.pcapng", &bytes[..said], ASSUME).expect("a capture");
    assert_eq!(frames.observation.records.len(), 21, "it is on the 22nd frame");
    drop(evidence);
    drop(spooled);
    assert!(!path.exists(), "the file stayed behind");
}

#[test]
fn a_capture_of_all_that_wait_is_that_of_a_whole_one() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let mut sample = Sample::new();
    sample.storm(Dur::ms(3), Dur::ms(9));
    sample.probes(Dur::ZERO, Dur::ms(20), |sent| Some(sent + TRANSIT));
    let (observation, script) = sample.done(Dur::ms(20));
    let all = observation.records.clone();
    let spooled = spooled(&desk.path().join("x"), &script, &all, &all);
    let comments = [(3, "one".to_owned()), (3, "two".to_owned()), (9, "three".to_owned())];
    let write = |evidence: Evidence<'_>| {
        let mut bytes = Vec::new();
        evidence.write(&comments, &mut bytes).expect("memory");
        bytes
    };
    let whole = write(Evidence::whole(&observation, &script));
    assert!(write(Evidence::all(&observation, &script, &spooled)) == whole, "other bytes");
}

#[test]
fn a_frame_that_comes_too_late_and_a_disk_that_refuses_are_told() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let (observation, script, mut all) = many();
    let first = all.remove(0);
    all.push(first);
    let late = spooled(&desk.path().join("late"), &script, &all, &[]);
    let file = desk.path().join("file");
    fs::write(&file, "").expect("writable");
    let refused = spooled(&file.join("below"), &script, &all[..3], &[]);
    for (spooled, want) in [(late, "later than"), (refused, "Not a directory")] {
        let evidence = Evidence::all(&observation, &script, &spooled);
        let error = evidence.write(&[], io::sink()).expect_err(want).to_string();
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn what_waits_in_memory_is_bounded_and_what_is_left_out_is_counted() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let (observation, script, all) = many();
    let mut spool = Spool::held(onto(&desk.path().join("held")), &script);
    spool.held = Some(100);
    for (at, record) in all.iter().take(300).enumerate() {
        spool.saw(*record, at % 3 == 0);
    }
    let spooled = spool.finish();
    // Of those behind the bound, the records of the observation are held all the same.
    let left_out = (100..300_u64).filter(|at| at % 3 != 0).count() as u64;
    assert_eq!((spooled.left_out(), spooled.frames()), (left_out, 300 - left_out));
    let mut bytes = Vec::new();
    Evidence::all(&observation, &script, &spooled).write(&[], &mut bytes).expect("memory");
    let said = format!("{left_out} frames were counted and not recorded");
    assert!(bytes.windows(said.len()).any(|text| text == said.as_bytes()), "{said}");
}
