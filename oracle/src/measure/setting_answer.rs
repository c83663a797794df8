//! What came of a setting that a case tries.

/// What a device did with a setting that a case tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingAnswer {
    /// It is in effect.
    Taken,
    /// It is not, and all is as it was: why, in words.
    Refused(String),
    /// Something else is in effect than was there before and than was asked for: what.
    Otherwise(String),
}

impl SettingAnswer {
    /// By number: a device that takes something else has neither taken the setting nor refused it.
    pub(super) const fn number(&self) -> u64 {
        match self {
            SettingAnswer::Taken => 0,
            SettingAnswer::Refused(_) => 1,
            SettingAnswer::Otherwise(_) => 2,
        }
    }

    /// The same in words.
    pub(super) fn told(&self) -> String {
        match self {
            SettingAnswer::Taken => "accepted".to_owned(),
            SettingAnswer::Refused(why) => format!("refused: {why}"),
            SettingAnswer::Otherwise(what) => format!("taken as something else: {what}"),
        }
    }
}
