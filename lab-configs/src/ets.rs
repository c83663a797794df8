//! How the port of a NIC shares what it carries among traffic classes: enhanced transmission selection (ETS, IEEE 802.1Q clause 37; 802.1Qaz).

use crate::field::Holds::{Chance, List, Whole};
use crate::field::{Field, optional};
use rig_units::{L2Rate, Ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the port of a NIC shares what it carries among traffic classes. Where nothing is declared of `classes` nothing is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ets {
    /// The traffic class of each of the eight priorities (the priority assignment table; `dcb ets set prio-tc`, `mlnx_qos --prio_tc`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priorities: Option<Vec<u8>>,
    /// How each traffic class is selected, from class 0 on (the TSA table and the bandwidth table; `dcb ets set tc-tsa tc-bw`, `mlnx_qos --tsa
    /// --tcbw`). Unset: nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<Selection>>,
    /// The most that a traffic class sends, by class, whatever else the port carries (`dcb maxrate`, `mlnx_qos --ratelimit`). Unset: none is
    /// limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<BTreeMap<u8, L2Rate>>,
    /// By how many hundredths of what ETS shares the bandwidth of a class may be more or less than it is set to. Unset: by none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Ppm>,
}

/// How frames of one traffic class are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Selection {
    /// Before every class that shares, the highest number first.
    Strict,
    /// By ETS: so many hundredths of what strict classes leave, and of what others do not use in the same proportion.
    Percent(u8),
}

impl Ets {
    /// Its fields, a row each. Classes are lists; what breaks there are deviations.
    pub const FIELDS: &[Field] = &[
        optional("priorities", List).by_case().live(),
        optional("classes", List).by_case().live(),
        optional("limits", Whole).by_case().live(),
        optional("precision", Chance).tried(&["5%"]),
    ];

    /// Every value that lies outside its range, as [`Nic::out_of_range`](crate::Nic::out_of_range) tells it.
    pub(crate) fn out_of_range(&self) -> Vec<(&'static str, String, String)> {
        let Ets { priorities, classes, limits, precision } = self;
        let mut all = Vec::new();
        let mut wrong = |is: bool, path, found: String, want: &str| {
            if is {
                all.push((path, found, want.to_owned()));
            }
        };
        let declared = classes.is_some();
        // How exact a device is it may say before anybody sets its classes.
        let rest = priorities.is_some() || limits.is_some();
        wrong(rest && !declared, "ets.classes", "none".to_owned(), "how each class is selected");
        let table = priorities.as_deref().unwrap_or_default();
        let found = format!("{} priorities", table.len());
        wrong(declared && table.len() != 8, "ets.priorities", found, "a class for each of the 8");
        let all_classes = classes.as_deref().unwrap_or_default();
        let count = all_classes.len();
        let found = format!("{count} classes");
        wrong(
            declared && !(1..=8).contains(&count),
            "ets.classes",
            found,
            "1 to 8 traffic classes",
        );
        let beyond = |class: u8| usize::from(class) >= count;
        let none = table.iter().copied().find(|class| beyond(*class));
        let found = none.map_or_else(String::new, |class| format!("traffic class {class}"));
        wrong(declared && none.is_some(), "ets.priorities", found, "classes that ets.classes has");
        let percents = all_classes.iter().filter_map(|class| match class {
            Selection::Percent(percent) => Some(u32::from(*percent)),
            Selection::Strict => None,
        });
        let sum: u32 = percents.clone().sum();
        let shares = percents.clone().count() > 0;
        let found = format!("{sum} % in all");
        wrong(shares && sum != 100, "ets.classes", found, "100 % among the classes that share");
        wrong(percents.clone().any(|one| one == 0), "ets.classes", "0 %".to_owned(), "1 to 100 %");
        let limits = limits.iter().flatten();
        let none = limits.clone().find(|(class, _)| beyond(**class));
        let found = none.map_or_else(String::new, |(class, _)| format!("traffic class {class}"));
        wrong(declared && none.is_some(), "ets.limits", found, "classes that ets.classes has");
        let zero = limits.clone().any(|(_, rate)| rate.bps == 0);
        wrong(zero, "ets.limits", "no rate".to_owned(), "more than 0bps-L2");
        let coarse = precision.filter(|precision| *precision >= Ppm::ONE);
        let found = coarse.map_or_else(String::new, |precision| precision.to_string());
        wrong(coarse.is_some(), "ets.precision", found, "less than 100%");
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ets() -> Ets {
        let share = Selection::Percent;
        Ets {
            priorities: Some(vec![0, 0, 0, 1, 2, 1, 0, 2]),
            classes: Some(vec![share(30), share(70), Selection::Strict]),
            limits: Some([(2, L2Rate { bps: 1 })].into()),
            precision: None,
        }
    }

    #[test]
    fn what_contradicts_itself_is_told_where_it_stands() {
        assert_eq!(ets().out_of_range(), []);
        assert_eq!(Ets::default().out_of_range(), []);
        let share = Selection::Percent;
        let cases: [(Ets, &str); 8] = [
            (Ets { classes: None, ..ets() }, "ets.classes"),
            (Ets { priorities: None, ..ets() }, "ets.priorities"),
            (Ets { priorities: Some(vec![3; 8]), ..ets() }, "ets.priorities"),
            (Ets { classes: Some(vec![share(30), share(60), share(5)]), ..ets() }, "ets.classes"),
            (Ets { classes: Some(vec![share(0), share(100), share(0)]), ..ets() }, "ets.classes"),
            (Ets { limits: Some([(3, L2Rate { bps: 1 })].into()), ..ets() }, "ets.limits"),
            (Ets { limits: Some([(1, L2Rate { bps: 0 })].into()), ..ets() }, "ets.limits"),
            (Ets { precision: Some(Ppm::ONE), ..ets() }, "ets.precision"),
        ];
        for (wrong, path) in cases {
            let told: Vec<&str> = wrong.out_of_range().into_iter().map(|(path, ..)| path).collect();
            assert_eq!(told, [path], "{wrong:?}");
        }
        let strict = Ets { classes: Some(vec![Selection::Strict; 3]), ..ets() };
        assert_eq!(strict.out_of_range(), []);
    }
}
