use super::*;

const PROMISE: Promise = Promise {
    emission: Within::exactly(Dur(10)),
    turn: Dur(5),
    blur: Dur(0),
    refresh: Within::exactly(Dur(100)),
    watchdog: None,
    until: Time(10_000),
};

/// Frames of one byte that came at these instants and were taken at those.
fn held(frames: &[(u64, u64)]) -> Vec<Waiting> {
    let one = |&(at, out): &(u64, u64)| Waiting {
        at: Time(at),
        out: (Time(out), Time(out)),
        size: Bytes(1),
    };
    frames.iter().map(one).collect()
}

/// Three frames wait from 100 to 400, and all are out at 500; XOFF is due above two, XON at one.
fn filled() -> Stretches {
    let frames = held(&[(80, 300), (90, 400), (100, 500)]);
    stretches(&frames, Thresholds::exactly(Bytes(2), Bytes(1)), &[], Dur(0), Time(10_000))
}

fn words(words: &[(u64, u64)]) -> Vec<Spoken> {
    let word = |(record, &(at, lasts))| Spoken { record, at: Time(at), lasts: Dur(lasts) };
    words.iter().enumerate().map(word).collect()
}

#[test]
fn it_is_full_from_above_xoff_to_xon_and_relieved_before_and_after() {
    let Stretches { full, relieved } = filled();
    let stretch = |from, until| Stretch { from: Time(from), until: Time(until) };
    assert_eq!(full, [stretch(100, 400)]);
    assert_eq!(relieved, [stretch(0, 100), stretch(400, 10_000)]);
    // What may be off by 10 is surely full for less, and surely relieved for less.
    let frames = held(&[(80, 300), (90, 400), (100, 500)]);
    let blurred =
        stretches(&frames, Thresholds::exactly(Bytes(2), Bytes(1)), &[], Dur(10), Time(10_000));
    assert_eq!(blurred.full, [stretch(110, 390)]);
    assert_eq!(blurred.relieved, [stretch(0, 90), stretch(410, 10_000)]);
}

#[test]
fn who_said_that_it_is_full_is_until_it_surely_fell_to_xon() {
    let stretch = |from, until| Stretch { from: Time(from), until: Time(until) };
    let full = |said: &[Stretch]| {
        let frames = held(&[(50, 400), (60, 500), (600, 700)]);
        stretches(&frames, Thresholds::exactly(Bytes(2), Bytes(1)), said, Dur(0), Time(10_000)).full
    };
    // Two wait from 60 to 400: more than XON, no more than XOFF.
    assert_eq!(full(&[]), []);
    assert_eq!(full(&[stretch(60, 75)]), [stretch(75, 400)]);
    // It may have fallen to XON in between, or since.
    for said in [stretch(59, 75), stretch(390, 400), stretch(610, 620)] {
        assert_eq!(full(&[said]), []);
    }
    let words = words(&[(100, 50), (140, 50), (300, 0), (400, 50)]);
    assert_eq!(PROMISE.said(&words), [stretch(85, 90), stretch(385, 390)]);
}

#[test]
fn who_says_what_is_called_for_in_time_is_accused_of_nothing() {
    for (xoff, again, xon) in [(110, 210, 410), (115, 215, 415), (112, 215, 413)] {
        let said = words(&[(xoff, 150), (again, 150), (again + 100, 150), (xon, 0)]);
        let account = PROMISE.account(&filled(), &said);
        assert_eq!((&account.pauses[..], account.due), (&[0][..], 1));
        assert_eq!((&account.needless[..], &account.early[..]), (&[][..], &[][..]));
        let within = |one: &Lag| one.least >= Dur(10) && one.most <= Dur(15);
        assert!(account.xoffs.iter().chain(&account.xons).all(within), "{account:?}");
        assert_eq!((account.xoffs.len(), account.xons.len(), account.refreshes.len()), (1, 1, 2));
    }
}

#[test]
fn each_word_that_is_missing_late_or_not_called_for_shows() {
    let said = |all: &[(u64, u64)]| PROMISE.account(&filled(), &words(all));
    let nothing = said(&[]);
    assert_eq!((nothing.pauses.len(), nothing.due, nothing.xoffs[0].record), (0, 1, None));
    let late = said(&[(116, 300), (410, 0)]);
    assert_eq!(late.xoffs[0].most, Dur(16));
    let soon = said(&[(109, 400), (410, 0)]);
    assert_eq!(soon.xoffs[0].least, Dur(9));
    let no_xon = said(&[(110, 400)]);
    assert_eq!((no_xon.xons.len(), no_xon.xons[0].record), (1, None));
    let late_xon = said(&[(110, 400), (416, 0)]);
    assert_eq!(late_xon.xons[0].most, Dur(16));
    let early = said(&[(110, 400), (399, 0)]);
    assert_eq!(early.early, [1]);
    let needless = said(&[(50, 10), (99, 500), (410, 0)]);
    assert_eq!((&needless.needless[..], needless.pauses.len()), (&[0, 1][..], 2));
    // A word that what was before it may have called for is none too many.
    assert_eq!(said(&[(110, 500), (410, 0), (414, 50)]).needless, [] as [usize; 0]);
    let unrefreshed = said(&[(110, 150), (410, 0)]);
    assert_eq!((unrefreshed.refreshes.len(), unrefreshed.refreshes[0].record), (1, None));
}

#[test]
fn an_xon_that_its_slack_explains_calls_for_another_xoff() {
    // Asked from before it was full, and took that back within the 15 that an XON may be late.
    let said = |all: &[(u64, u64)]| PROMISE.account(&filled(), &words(all));
    for xon in [101, 110, 114] {
        let missing = said(&[(90, 500), (xon, 0), (410, 0)]);
        assert_eq!(missing.early, [] as [usize; 0], "{xon}");
        let lag = Lag { least: Dur(400 - xon), most: Dur(400 - xon), record: None };
        assert_eq!(missing.xoffs, [lag], "{xon}");
        let late = said(&[(90, 500), (xon, 0), (xon + 16, 500), (410, 0)]);
        assert_eq!(late.xoffs, [Lag { least: Dur(16), most: Dur(16), record: Some(2) }], "{xon}");
        let in_time = said(&[(90, 500), (xon, 0), (xon + 15, 500), (410, 0)]);
        assert_eq!(in_time.xoffs, [], "{xon}");
    }
}

#[test]
fn a_pause_that_ran_out_is_over_and_the_next_one_is_another() {
    let said = words(&[(110, 50), (220, 50), (410, 0)]);
    assert_eq!(PROMISE.account(&filled(), &said).pauses, [0, 1]);
}

#[test]
fn what_ends_before_a_word_is_due_calls_for_none() {
    let short = stretches(
        &held(&[(1, 9), (2, 9), (3, 9)]),
        Thresholds::exactly(Bytes(2), Bytes(1)),
        &[],
        Dur(0),
        Time(99),
    );
    let account = PROMISE.account(&short, &[]);
    assert_eq!((account.due, account.xoffs.len(), account.xons.len()), (0, 0, 0));
}

#[test]
fn two_stretches_that_may_be_one_call_for_one_pause_and_two_that_are_two_for_two() {
    let stretch = |from, until| Stretch { from: Time(from), until: Time(until) };
    let full = vec![stretch(100, 400), stretch(420, 700)];
    let due = |relieved: Stretch| {
        let relieved = vec![stretch(0, 90), relieved, stretch(710, 10_000)];
        PROMISE.account(&Stretches { full: full.clone(), relieved }, &[]).due
    };
    // 15 from what calls for an XON to the latest instant at which it leaves.
    assert_eq!(due(stretch(403, 418)), 1);
    assert_eq!(due(stretch(402, 418)), 2);
    // What follows the second says nothing of what lies between the two.
    let only_after = vec![stretch(0, 90), stretch(710, 10_000)];
    assert_eq!(PROMISE.account(&Stretches { full, relieved: only_after }, &[]).due, 1);
}

/// Full from 100 to 1400, and again from 2000 to 2400; an XOFF each 100.
fn twice() -> Stretches {
    let stretch = |from, until| Stretch { from: Time(from), until: Time(until) };
    let full = vec![stretch(100, 1_400), stretch(2_000, 2_400)];
    let relieved = vec![stretch(0, 100), stretch(1_400, 2_000), stretch(2_400, 10_000)];
    Stretches { full, relieved }
}

fn watched(said: &[(u64, u64)]) -> Account {
    let watchdog = Some(Within::between(Dur(400), Dur(600)));
    Promise { watchdog, ..PROMISE }.account(&twice(), &words(said))
}

/// XOFFs of 150 from 110 on, so many.
fn storm(count: u64) -> Vec<(u64, u64)> {
    (0..count).map(|nth| (110 + nth * 100, 150)).collect()
}

#[test]
fn a_watchdog_that_stops_it_in_time_is_no_word_too_few() {
    let second = [(2_010, 150), (2_110, 150), (2_210, 150), (2_310, 150), (2_410, 0)];
    // Its last XOFF was after 300 or after 500: another 100 later it said none.
    for count in [4, 6] {
        let account = watched(&[&storm(count)[..], &second].concat());
        let [stop] = account.stops[..] else { panic!("{account:?}") };
        assert!(stop.most >= Dur(400) && stop.least <= Dur(600), "{stop:?}");
        assert!(account.refreshes.iter().all(|one| one.record.is_some()), "{account:?}");
        assert!(account.xoffs.iter().chain(&account.xons).all(|one| one.record.is_some()));
        assert_eq!((account.due, account.pauses.len()), (2, 2));
    }
}

#[test]
fn a_watchdog_that_stops_it_too_soon_too_late_or_for_good_shows() {
    let stop = |count| watched(&storm(count)).stops[0];
    assert_eq!((stop(3).least, stop(3).most), (Dur(195), Dur(305)));
    assert_eq!((stop(8).least, stop(8).most), (Dur(695), Dur(805)));
    // To the end of what is full: how much longer it would ask nobody knows.
    assert_eq!((stop(13).least, stop(13).most), (Dur(1_195), Dur(u64::MAX)));
    let never_again = watched(&storm(5));
    assert_eq!(never_again.xoffs.last().map(|one| one.record), Some(None));
    // One that asked once and never again is one that does not refresh.
    let once = watched(&storm(1));
    assert_eq!((once.stops.len(), once.refreshes[0].record), (0, None));
}

#[test]
fn who_may_have_been_stopped_owes_no_word_until_it_surely_was_relieved() {
    let stretch = |from, until| Stretch { from: Time(from), until: Time(until) };
    let full = vec![stretch(100, 1_400), stretch(1_420, 2_400)];
    // Too short to be sure that it was down to XON.
    let relieved = vec![stretch(0, 100), stretch(1_405, 1_410), stretch(2_400, 10_000)];
    let watchdog = Some(Within::between(Dur(400), Dur(600)));
    let promise = Promise { watchdog, ..PROMISE };
    let account = promise.account(&Stretches { full, relieved }, &words(&storm(6)));
    assert_eq!((account.xoffs.len(), account.xons.len(), account.stops.len()), (1, 0, 1));
    assert!(account.refreshes.iter().all(|one| one.record.is_some()), "{account:?}");
}

#[test]
fn a_timer_that_began_before_it_surely_was_full_is_counted_from_there_where_that_is_certain() {
    let stretch = |from, until| Stretch { from: Time(from), until: Time(until) };
    let relieved = vec![stretch(0, 100), stretch(1_400, 10_000)];
    let stop = |from: u64, least: u64| {
        let watchdog = Some(Within::between(Dur(least), Dur(600)));
        let of = Stretches { full: vec![stretch(from, 1_400)], relieved: relieved.clone() };
        let account = Promise { watchdog, ..PROMISE }.account(&of, &words(&storm(6)));
        account.stops.first().map(|stop| (stop.least, stop.most))
    };
    // Six from 110 to 610, of which two are before it surely is full.
    let all = Some((Dur(495), Dur(605)));
    assert_eq!((stop(100, 400), stop(250, 400), stop(250, 100)), (all, all, None));
}
