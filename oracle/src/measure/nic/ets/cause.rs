//! What a NIC does instead of what it is set to, as far as shares tell: each of the usual mistakes is worked out by the same rule, and the first one of
//! which all classes carry what it comes to is named.

use super::offered::{Offered, Table, classes};
use super::want;
use crate::spec::nic::ets::Class;
use rig_capture::Span;
use rig_units::L2Rate;

/// A mistake: what it is, and what the classes would carry.
struct Guess {
    says: String,
    table: Table,
    wanted: Vec<Span>,
}

/// The mistake that explains what every class carried; `None` where none of the usual ones does.
pub(super) fn of(offered: &Offered) -> Option<String> {
    let fits = |guess: &Guess| {
        let mut wanted = guess.wanted.iter().enumerate();
        wanted.all(|(class, want)| offered.carried(&guess.table, class).meets(*want))
    };
    let all = of_shares(offered).into_iter().chain(of_limits(offered));
    let all = all.chain(of_strict(offered)).chain(of_priorities(offered));
    all.into_iter().find(fits).map(|guess| guess.says)
}

/// The classes as they are declared, but that they are these.
fn with(offered: &Offered, says: String, classes: &[Class]) -> Guess {
    let wanted = want(offered, offered.port, classes);
    Guess { says, table: offered.table.clone(), wanted }
}

/// The classes that share, or the strict ones.
fn which(offered: &Offered, share: bool) -> Vec<usize> {
    let percents = &offered.table.percents;
    (0..percents.len()).filter(|class| percents[*class].is_some() == share).collect()
}

fn of_shares(offered: &Offered) -> Vec<Guess> {
    let percents = &offered.table.percents;
    let declared = classes(offered, &offered.table);
    let sharing = which(offered, true);
    let mut all = Vec::new();
    for (nth, &one) in sharing.iter().enumerate() {
        for &other in sharing[nth + 1..].iter().filter(|other| percents[one] != percents[**other]) {
            let mut classes = declared.clone();
            (classes[one].percent, classes[other].percent) = (percents[other], percents[one]);
            let says = format!("if classes {one} and {other} had each other's bandwidth");
            all.push(with(offered, says, &classes));
        }
    }
    let alike = 100.0 / sharing.iter().map(|_| 1.0).sum::<f64>();
    all.push(with(
        offered,
        "if the classes that share had the same bandwidth".to_owned(),
        &changed(&declared, &sharing, |class| class.percent = Some(alike)),
    ));
    all.push(with(
        offered,
        "if bandwidths counted frames, not bytes".to_owned(),
        &changed(&declared, &sharing, |class| {
            class.percent = class.percent.map(|percent| percent * class.frame / 1_000.0);
        }),
    ));
    all.push(with(
        offered,
        "if what a class does not use were given to nobody".to_owned(),
        &changed(&declared, &sharing, |class| {
            let own = scaled(offered.port.hi, class.percent.unwrap_or(0.0) / 100.0);
            let limit = class.limit.unwrap_or(Span::exactly(own));
            class.limit = Some(Span { lo: limit.lo.min(own), hi: limit.hi.min(own) });
        }),
    ));
    all
}

fn of_limits(offered: &Offered) -> Vec<Guess> {
    let limits = &offered.table.limits;
    let declared = classes(offered, &offered.table);
    let mut all = Vec::new();
    for class in (0..limits.len()).filter(|class| limits[*class].is_some()) {
        let says = format!("if nothing limited class {class}");
        let free = changed(&declared, &[class], |class| class.limit = None);
        all.push(with(offered, says, &free));
    }
    if let Some(&limit) = limits.iter().flatten().min() {
        let every: Vec<usize> = (0..limits.len()).collect();
        let free = changed(&declared, &every, |class| class.limit = None);
        let around = |class: &Class| (class.frame + 20.0) / class.frame;
        let port =
            Span { lo: limit, hi: scaled(limit, free.iter().map(around).fold(1.0, f64::max)) };
        let says = format!("if the limit of {} held the whole port", L2Rate { bps: limit });
        let wanted = want(offered, port, &free);
        all.push(Guess { wanted, ..with(offered, says, &free) });
    }
    all
}

fn of_strict(offered: &Offered) -> Vec<Guess> {
    let declared = classes(offered, &offered.table);
    let (sharing, strict) = (which(offered, true), which(offered, false));
    let mut all = Vec::new();
    if !strict.is_empty() && !sharing.is_empty() {
        let none = |class: &mut Class| class.offers = Span::exactly(0);
        let first = changed(&declared, &strict, none);
        let mut wanted = want(offered, offered.port, &first);
        // Strict classes have what is left.
        let taken: u64 = sharing.iter().map(|class| wanted[*class].lo).sum();
        let rest = offered.port.hi.saturating_sub(taken);
        let left = want(offered, Span { lo: 0, hi: rest }, &changed(&declared, &sharing, none));
        strict.iter().for_each(|class| wanted[*class] = left[*class]);
        let says = "if strict classes were served last".to_owned();
        all.push(Guess { wanted, ..with(offered, says, &declared) });
        let in_turn = changed(&declared, &strict, |class| class.percent = Some(100.0));
        let says = "if strict classes were served in turns with the others".to_owned();
        all.push(with(offered, says, &in_turn));
    }
    if strict.len() > 1 {
        let mut table = offered.table.clone();
        for priority in &mut table.priorities {
            let place = strict.iter().position(|class| *class == usize::from(*priority));
            let other = place.map(|place| strict[strict.len() - 1 - place]);
            *priority = other.and_then(|other| u8::try_from(other).ok()).unwrap_or(*priority);
        }
        let says = "if the lowest of the strict classes went first".to_owned();
        all.push(moved(offered, says, table));
    }
    all
}

fn of_priorities(offered: &Offered) -> Vec<Guess> {
    let table = &offered.table;
    let mut off_by_one = table.clone();
    off_by_one.priorities.rotate_left(1);
    let says = "if each priority were in the class of the one above it".to_owned();
    let mut all = vec![moved(offered, says, off_by_one)];
    for of in &offered.flows {
        for class in (0..table.percents.len()).filter(|class| *class != table.class_of(of.priority))
        {
            let mut other = table.clone();
            if let Some(own) = other.priorities.get_mut(usize::from(of.priority)) {
                *own = u8::try_from(class).unwrap_or(*own);
            }
            let says = format!("if priority {} were in class {class}", of.priority);
            all.push(moved(offered, says, other));
        }
    }
    all
}

/// The same classes, some of them otherwise.
fn changed(classes: &[Class], which: &[usize], change: impl Fn(&mut Class)) -> Vec<Class> {
    let mut changed = classes.to_vec();
    which.iter().for_each(|class| change(&mut changed[*class]));
    changed
}

/// Priorities in other classes.
fn moved(offered: &Offered, says: String, table: Table) -> Guess {
    let wanted = want(offered, offered.port, &classes(offered, &table));
    Guess { says, table, wanted }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are far below 2^53"
)]
fn scaled(rate: u64, by: f64) -> u64 {
    (rate as f64 * by.max(0.0)) as u64
}
