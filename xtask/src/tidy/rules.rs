//! Rules on single files: who may see what, and how files look.

use super::breach::Breach;
use super::tree::{Source, product};

/// The longest file that is still one room.
const LONGEST: usize = 500;

/// A word that code below some folders must not name.
struct Ban {
    /// Folders the rule holds in.
    within: &'static [&'static str],
    /// Folders or files in which it does not.
    except: &'static [&'static str],
    /// The words.
    words: &'static [&'static str],
    /// Why, and what to do instead.
    why: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        within: &["oracle/src/spec/", "oracle/src/judge/"],
        except: &[],
        words: &["crate::model", "super::model", "model::"],
        why: "spec and judge share no behaviour with the model: write the closed form down instead",
    },
    Ban {
        within: &["oracle/src/model/"],
        except: &[],
        words: &["crate::spec", "crate::judge", "spec::", "judge::"],
        why: "the model shares no behaviour with what judges it: simulate it instead",
    },
    Ban {
        within: &["oracle/src/measure/", "oracle/src/trials/"],
        except: &[],
        words: &["crate::model"],
        why: "a measure never asks the model what a device does: what it must do stands in spec, what it did in the observation",
    },
    Ban {
        within: &["oracle/src/spec/", "oracle/src/judge/", "oracle/src/model/"],
        except: &[],
        words: &["crate::measure", "crate::trials"],
        why: "measures build on closed forms and judges, not the other way round: take what you need as an argument",
    },
    Ban {
        within: &[""],
        except: &[
            "lab-configs/src/",
            "oracle/src/model/",
            "oracle/tests/",
            "dut-adapters/src/emulated",
            "xtask/",
        ],
        words: &[".actual(", "Actual"],
        why: "only the model and the emulated adapters may see what a device really does: use `declared`",
    },
    Ban {
        within: &[""],
        // What build scripts print, cargo reads.
        except: &[
            "rigctl/",
            "xtask/",
            "/tests/",
            "/tests.rs",
            "/build.rs",
            "/bundle.rs",
            "frames/fuzz/",
        ],
        words: &["println!(", "print!(", "eprintln!(", "eprint!("],
        why: "nothing below rigctl prints: return it, or write to what the caller passed in",
    },
    Ban {
        within: &[""],
        except: &["rigctl/src/wall.rs", "xtask/"],
        words: &["Instant::now", "SystemTime::now", "Timestamp::now", "Zoned::now"],
        why: "time is an argument: only rigctl's `wall` room reads a clock",
    },
    Ban {
        within: &[""],
        except: &["xtask/"],
        words: &["#[ignore", "todo!(", "unimplemented!("],
        why: "a test that does not run and code that is not written are defects: finish it or leave it out",
    },
    Ban {
        within: &[""],
        except: &[
            "generator/src/port/afxdp/",
            "generator/src/port/dpdk/",
            "generator/src/port/ethtool.rs",
            "generator/src/port/ptp.rs",
            "generator/src/port/realtime.rs",
            "generator/src/port/sockopt.rs",
            "generator/src/port/ticks.rs",
            "xtask/",
        ],
        words: &["unsafe {", "unsafe fn", "unsafe impl", "unsafe trait", "unsafe extern"],
        why: "unsafe code lives in the port back ends only",
    },
];

/// Where names of SAI's counters may stand: what gives them, and adapters. A test holds texts against them.
const NAMING: [&str; 3] = ["capture/src/counter.rs", "dut-adapters/src/", "xtask/"];
/// What such names begin with.
const SAI: [&str; 6] =
    ["SAI_PORT_", "SAI_QUEUE_", "SAI_INGRESS_", "SAI_BUFFER_", "SAI_MACSEC_", "SAI_OBJECT_"];

/// Names of SAI's counters in code of the product.
pub(crate) fn vendors(sources: &[Source]) -> Vec<Breach> {
    let held = product(sources).into_iter();
    let held = held.filter(|source| !NAMING.iter().any(|at| source.path.starts_with(at)));
    held.flat_map(|source| {
        let named = source.product().into_iter();
        let named = named.filter(|(_, line)| SAI.iter().any(|name| line.contains(name)));
        named.map(|(line, _)| Breach {
            file: source.path.clone(),
            line,
            why: "names of SAI's counters stand in capture/src/counter.rs and in adapters: use `DutCounter`".to_owned(),
        })
    })
    .collect()
}

/// Every breach in one file.
pub(crate) fn check(source: &Source) -> Vec<Breach> {
    if !source.path.ends_with(".rs") {
        return Vec::new();
    }
    let breach =
        |line: usize, why: &str| Breach { file: source.path.clone(), line, why: why.to_owned() };
    let mut all = Vec::new();
    let lines = source.text.lines().count();
    if lines > LONGEST {
        all.push(breach(lines, "over 500 lines: split it by responsibility"));
    }
    // The job of `pause_gate/tests.rs` is its name.
    if !source.text.starts_with("//!") && !source.path.ends_with("/tests.rs") {
        all.push(breach(1, "a file opens with its one job: begin with a `//!` line"));
    }
    for ban in BANS.iter().filter(|ban| ban.holds_in(&source.path)) {
        let named =
            source.code().filter(|(_, code)| ban.words.iter().any(|word| code.contains(word)));
        all.extend(named.map(|(line, _)| breach(line, ban.why)));
    }
    all
}

impl Ban {
    fn holds_in(&self, path: &str) -> bool {
        let within = self.within.iter().any(|folder| path.starts_with(folder));
        let except = |place: &str| {
            path.starts_with(place) || (place.starts_with('/') && path.contains(place))
        };
        within && !self.except.iter().any(|place| except(place))
    }
}
