//! A way to the switch that breaks while it is being set.

use super::{CONFIG, SHORT, SOON, profile, setting, switch};
use crate::control::Control as _;
use crate::fixture::{Break, BrokenWay};
use crate::journal::Change;
use crate::sonic::SonicControl;
use rig_lab::RedisAt;
use serde_json::json;

#[test]
fn a_way_that_breaks_while_it_sets_leaves_what_the_journal_puts_back() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some((server, _orchagent)) = switch(desk.path()) else { return };
    let before = server.all(CONFIG);
    let settings =
        [setting("pfcwd.detection_time", json!("400ms")), setting("wred.kmin", json!("208000B"))];
    let open = |at: &RedisAt| SonicControl::with(at, &profile(), 2, SOON).expect("a leaf");
    let whole = BrokenWay::new(desk.path(), &server.at(), Break::Cut(usize::MAX));
    let mut control = open(&whole.at());
    let opened = whole.passed();
    control.set(&settings).expect("it takes it");
    let set = whole.passed();
    drop(control);
    assert!(set > opened + 20, "{opened} {set}");
    // The lease and the look before the transaction, its commands, and the look behind it. How often it is looked until all is in
    // effect nobody knows.
    let mut written = 0;
    for at in [0, 2, 5, 7, 9, 11, 13, 14, 15, 16, 17, 20].map(|one| opened + one) {
        for breaks in [Break::Cut(at), Break::CutAfter(at)] {
            server.tell(6, &["DEL", super::lease::KEY]);
            // Until what the round before has undone is in effect: then one look is enough.
            drop(open(&server.at()));
            let way = BrokenWay::new(desk.path(), &server.at(), breaks);
            let mut control = open(&way.at());
            let noted: Vec<Change> = control.changes(&settings);
            let lost = control.set(&settings).expect_err("it breaks").to_string();
            assert!(lost.contains("the connection is closed"), "{breaks:?}: {lost}");
            // As whoever is killed now would leave it.
            core::mem::forget(control);
            written += usize::from(server.all(CONFIG) != before);
            drop(way);
            let near = BrokenWay::new(desk.path(), &server.at(), Break::Cut(usize::MAX));
            for change in noted.iter().rev() {
                change.undo().unwrap_or_else(|why| panic!("{breaks:?}: {change}: {why}"));
            }
            assert_eq!(server.all(CONFIG), before, "{breaks:?}");
            drop(near);
        }
    }
    assert!(written >= 3, "of {written} the changes were made");
    let lost = SonicControl::with(
        &BrokenWay::new(desk.path(), &server.at(), Break::Loading(0)).at(),
        &profile(),
        2,
        SHORT,
    );
    let lost = lost.map(drop).expect_err("it loads");
    assert!(lost.contains("it is still loading its data (LOADING)"), "{lost}");
}
