//! `rigctl size`: how large buffers and thresholds must be.

use super::input::Bad;
use crate::cli::{Format, SizeArgs};
use crate::stdout;
use core::fmt::Write as _;
use rig_lab::Switch;
use rig_lab::read::{NamedFile, named_file};
use rig_oracle::sizing::{Demand, Extent, Figure, figures};
use rig_reports::{Exit, printable};
use rig_units::{Bytes, PFC_BUDGETS};
use serde_json::{Value as Json, json};

/// Of a switch that nobody describes.
const PORTS: u16 = 32;
const MEMORY: Bytes = Bytes(32 << 20);

/// Prints every figure.
///
/// # Errors
/// A profile that cannot be used, or a speed whose response no flag says.
pub fn size(args: &SizeArgs) -> Result<Exit, Bad> {
    let demand = demand(args)?;
    let figures = figures(&demand);
    match args.format {
        Format::Json => stdout::json(
            &serde_json::to_string_pretty(&told(args, &demand, &figures)).unwrap_or_default(),
        ),
        Format::Human => stdout::text(&text(args, &demand, &figures)),
    }
    Ok(Exit::Passed)
}

/// What the flags ask for.
fn demand(args: &SizeArgs) -> Result<Demand, Bad> {
    let mut demand = match &args.profile {
        Some(path) => Demand::of(&declared(path)?),
        None => {
            let usual = Demand::of(&Switch::usual());
            Demand { ports: PORTS, senders: 8, memory: Some(MEMORY), ..usual }
        }
    };
    fn set<T: Copy>(to: &mut T, flag: Option<T>) {
        if let Some(value) = flag {
            *to = value;
        }
    }
    set(&mut demand.speed, args.speed);
    set(&mut demand.mtu, args.mtu);
    demand.lossless_mtu = args.lossless_mtu.unwrap_or(demand.mtu);
    set(&mut demand.ports, args.ports);
    set(&mut demand.classes, args.classes.map(usize::from));
    demand.senders = args.fan_in.unwrap_or_else(|| demand.ports.saturating_sub(1).clamp(1, 8));
    set(&mut demand.buffer.cell, args.cell);
    set(&mut demand.buffer.descriptor, args.descriptor);
    set(&mut demand.buffer.reserved, args.reserved);
    set(&mut demand.emission, args.emission);
    demand.memory = args.memory.or(demand.memory);
    (demand.cable, demand.over_subscription) = (args.cable, args.over_subscription);
    demand.small_packets = args.small_packets;
    let listed = PFC_BUDGETS.iter().find(|(bps, _)| *bps == demand.speed.bps());
    // What a profile declares belongs to the speed that it declares.
    let by_standard = args.profile.is_none() || args.speed.is_some();
    match (args.response, listed) {
        (Some(quanta), _) => demand.respond_within(quanta),
        (None, Some((_, quanta))) if by_standard => demand.respond_within(*quanta),
        (None, None) if by_standard => {
            return Err(Bad::of(format!(
                "`--speed {}`: IEEE 802.3 31B.3.7 lists no response for it\n   = want: `--response` with it, such as 394q",
                demand.speed
            )));
        }
        _ => {}
    }
    sensible(args, demand)
}

/// Refuses what no switch can be.
/// The most that a cell, a descriptor or what a group has reserved takes in any chip, with room to spare.
const MOST_OF_ONE: Bytes = Bytes(1 << 20);

fn sensible(args: &SizeArgs, demand: Demand) -> Result<Demand, Bad> {
    let mut bad = Bad::default();
    if !(Bytes(64)..=Bytes(16_383)).contains(&demand.mtu) {
        bad.note(format!("`--mtu {}`\n   = want: 64B to 16383B, FCS counted", demand.mtu));
    } else if !(Bytes(64)..=demand.mtu).contains(&demand.lossless_mtu) {
        let (lossless, mtu) = (demand.lossless_mtu, demand.mtu);
        bad.note(format!("`--lossless-mtu {lossless}`\n   = want: 64B to the MTU of {mtu}"));
    }
    if demand.senders >= demand.ports {
        let (senders, ports) = (demand.senders, demand.ports);
        bad.note(format!(
            "`--fan-in {senders}` on {ports} ports\n   = want: at most all others, {}",
            ports - 1
        ));
    }
    if args.cell == Some(Bytes(0)) {
        bad.note("`--cell 0B`\n   = want: 1B or more");
    }
    for (name, size) in
        [("cell", args.cell), ("descriptor", args.descriptor), ("reserved", args.reserved)]
    {
        if let Some(size) = size.filter(|size| *size > MOST_OF_ONE) {
            bad.note(format!("`--{name} {size}`\n   = want: at most {MOST_OF_ONE}"));
        }
    }
    bad.or(demand)
}

/// What a profile of a switch declares.
fn declared(path: &std::path::Path) -> Result<Switch, Bad> {
    let read = named_file(Some(path)).map_err(|faults| {
        let mut bad = Bad::default();
        bad.faults(&faults);
        bad
    })?;
    match read {
        NamedFile::Profile(profile, _) => {
            let switch = profile.declared.switch().cloned().ok_or_else(|| {
                Bad::of(format!(
                    "`--profile {}` is {}\n   = want: a switch, which has a buffer",
                    path.display(),
                    profile.kind.called()
                ))
            })?;
            match switch.buffer.memories() {
                1 => Ok(switch),
                memories => Err(Bad::of(format!(
                    "`--profile {}` has {memories} packet memories (buffer.ingress_memories, buffer.egress_memories)\n   = want: a switch with one",
                    path.display()
                ))),
            }
        }
        NamedFile::Lab(..) => Err(Bad::of(format!(
            "`--profile {}` is a lab\n   = want: the profile of one switch",
            path.display()
        ))),
    }
}

/// The figures that have a field are held against what is declared, where a profile was given.
fn declared_of(args: &SizeArgs, figure: &Figure) -> Option<Extent> {
    figure.declared.filter(|_| args.profile.is_some())
}

fn text(args: &SizeArgs, demand: &Demand, figures: &[Figure]) -> String {
    let Demand { speed, cable, mtu, lossless_mtu, ports, classes, senders, buffer, .. } = demand;
    let mut text = format!(
        "{ports} ports of {speed}, {cable} of cable, MTU {mtu} (lossless {lossless_mtu}), {classes} lossless classes, {senders} to 1, cells of {}\n",
        buffer.cell
    );
    let impossible = figures.iter().filter(|figure| figure.amount == Extent::Impossible);
    let impossible: Vec<&str> = impossible.map(|figure| figure.name).collect();
    if !impossible.is_empty() {
        let names = impossible.join(" and ");
        let _infallible =
            writeln!(text, "none is enough: {names}; what follows from it is not sized");
    }
    for figure in figures {
        let declared =
            declared_of(args, figure).map(|own| format!("   declared {own}")).unwrap_or_default();
        let Figure { name, amount, formula, numbers, source, .. } = figure;
        let _infallible = writeln!(
            text,
            "\n{name:<28} {amount:>11}{declared}\n    {formula}\n    {numbers}\n    source: {source}"
        );
    }
    printable_lines(&text)
}

/// Each line by itself: a profile's name may stand in one.
fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

fn told(args: &SizeArgs, demand: &Demand, figures: &[Figure]) -> Json {
    let number = |amount: Extent| match amount {
        Extent::Size(Bytes(bytes)) => json!(bytes),
        Extent::Exponent(k) => json!(k),
        Extent::Impossible | Extent::Undefined => Json::Null,
    };
    let unit = |figure: &Figure| match (figure.amount, figure.declared) {
        (Extent::Exponent(_), _) | (_, Some(Extent::Exponent(_))) => "exponent of 2",
        _ => "B",
    };
    let figure = |figure: &Figure| {
        json!({
            "name": figure.name,
            "value": number(figure.amount),
            "unit": unit(figure),
            "declared": declared_of(args, figure).map(number),
            "formula": figure.formula,
            "numbers": figure.numbers,
            "source": figure.source,
        })
    };
    json!({
        "version": 1,
        "for": {
            "speed": demand.speed.to_string(),
            "cable": demand.cable.to_string(),
            "mtu": demand.mtu.to_string(),
            "lossless_mtu": demand.lossless_mtu.to_string(),
            "ports": demand.ports,
            "classes": demand.classes,
            "fan_in": demand.senders,
            "over_subscription": demand.over_subscription,
            "cell": demand.buffer.cell.to_string(),
        },
        "figures": figures.iter().map(figure).collect::<Vec<_>>(),
    })
}
