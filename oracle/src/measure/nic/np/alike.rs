//! Which intervals answer the same marks.

use crate::Alike;
use crate::spec::nic::np::{Mark, answered};
use core::ops::Bound;
use rig_capture::Unit;
use rig_lab::Np;
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// The intervals by which the same of these marks would be answered: longer than any mark that is not comes after one that is, and no
/// longer than any that is.
pub(super) fn alike(parameter: &str, np: &Np, marks: &[Mark], blur: Dur) -> Alike {
    let answered: Vec<usize> = answered(np, marks).iter().map(|answer| answer.mark).collect();
    let mut last: BTreeMap<u16, Time> = BTreeMap::new();
    let (mut least, mut most) = (None, None);
    for (index, mark) in marks.iter().enumerate() {
        let scope = mark.scoped(np.scope);
        let apart = last.get(&scope).and_then(|before| mark.at.since(*before));
        if answered.contains(&index) {
            last.insert(scope, mark.at);
            most = most.into_iter().chain(apart).min();
        } else {
            least = least.into_iter().chain(apart).max();
        }
    }
    let least = least.map(|apart: Dur| apart.saturating_sub(blur).0);
    let most = most.map(|apart: Dur| (apart + blur).0);
    Alike {
        parameter: parameter.to_owned(),
        unit: Unit::Ps,
        least: least.map_or(Bound::Unbounded, Bound::Excluded),
        most: most.map_or(Bound::Unbounded, Bound::Included),
        certain: true,
    }
}
