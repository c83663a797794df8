//! Settings that a device takes or refuses.

use super::given::{Ran, Word};
use rig_oracle::measure::SettingAnswer::{self, Otherwise, Refused, Taken};

/// What is said of a setting that is to be taken or refused, once the device has answered so.
fn word(setting: &str, expect: &str, answer: Result<SettingAnswer, String>) -> Word {
    let ran = Ran::of(
        "broadcom",
        &format!("    configure: {{{setting}}}\n    trials: 1\n    expect: {expect}\n"),
    );
    ran.answered(&[answer]).word("config")
}

#[test]
fn a_setting_at_its_limit_is_taken_and_one_past_it_refused() {
    let refused = || Refused("out of range".to_owned());
    let rounded = || Otherwise("100ms".to_owned());
    for (at, past) in [
        ("pfcwd.detection_time: 100ms", "pfcwd.detection_time: 99ms"),
        ("pfcwd.detection_time: 5000ms", "pfcwd.detection_time: 5001ms"),
        ("pfcwd.restoration_time: 100ms", "pfcwd.restoration_time: 99ms"),
        ("pfcwd.restoration_time: 60000ms", "pfcwd.restoration_time: 60001ms"),
    ] {
        assert_eq!(word(at, "accepted", Ok(Taken)), Word::Pass, "{at}");
        let got = Word::Fail("refused: out of range".to_owned());
        assert_eq!(word(at, "accepted", Ok(refused())), got, "{at}");
        assert_eq!(word(past, "rejected", Ok(refused())), Word::Pass, "{past}");
        let got = Word::Fail("accepted".to_owned());
        assert_eq!(word(past, "rejected", Ok(Taken)), got, "{past}");
        // What is rounded is neither taken nor refused.
        for (setting, expect) in [(at, "accepted"), (past, "rejected")] {
            let got = Word::Fail("taken as something else: 100ms".to_owned());
            assert_eq!(word(setting, expect, Ok(rounded())), got, "{setting}");
        }
        // A case that wants it the other way round is wrong, whatever the device does.
        for (setting, expect, answer) in [(at, "rejected", refused()), (past, "accepted", Taken)] {
            assert_eq!(
                word(setting, expect, Ok(answer)),
                Word::Doubt("not-observable"),
                "{setting}"
            );
        }
    }
}
