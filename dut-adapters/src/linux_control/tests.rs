use super::netlink::Stated;
use super::*;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What a guest said whose lab had prepared it.
const RECORDED: &str = include_str!("../../testdata/linux_switch/qdiscs-6.1.txt");
/// Behind the last of a list: that it is whole.
const WHOLE: &str = "1400000003000200000000000000000000000000";
/// As that kernel answered: that it is done, that it is not, and why not.
const DONE: &str = "240000000200000100000000cb00000000000000f8000000240005000000000000000000";
const REFUSED: &str = "240000000200000100000000c3000000eaffffff5c010000240005000000000000000000";
const SAID_WHY: &str = "500000000200000300000000d5000000eaffffffc40000002400050000000000000000002c0001007363685f6574733a20496e76616c6964206e756d626572206f66207374726963742062616e647300";

fn declared() -> Declared {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/linux-switch.yaml");
    rig_lab::read::profile(Path::new(path)).expect("a profile").declared
}

fn recorded() -> Vec<String> {
    RECORDED.lines().map(str::to_owned).collect()
}

/// What a kernel that does otherwise makes of what it is told.
type Twist = fn(&mut Stated);

/// A guest's kernel: what it has, and each thing that it was told to change, in turn.
#[derive(Debug, Clone)]
struct Kernel {
    has: Arc<Mutex<Vec<Stated>>>,
    told: Arc<Mutex<Vec<Stated>>>,
    twist: Twist,
    /// What it refuses, by a handle, and in which words.
    refuses: Option<(u32, &'static str)>,
}

impl Kernel {
    fn new(twist: Twist, refuses: Option<(u32, &'static str)>) -> Kernel {
        let said = recorded();
        let answer = netlink::bytes(said.last().expect("an answer")).expect("hex");
        let has = netlink::read(&answer).expect("an answer");
        Kernel { has: Arc::new(Mutex::new(has)), told: Arc::default(), twist, refuses }
    }

    fn control(&self) -> LinuxControl {
        LinuxControl::of(declared(), Box::new(self.clone()))
    }

    /// What it was told, by handles.
    fn told(&self) -> Vec<u32> {
        self.told.lock().unwrap().iter().map(|one| one.handle).collect()
    }

    fn answers(&self, asked: &[u8]) -> String {
        let mut all = self.has.lock().unwrap();
        // `RTM_GETQDISC`.
        if asked[4] == 38 {
            return all.iter().map(listed).collect::<String>() + WHOLE;
        }
        let mut one = netlink::read(&[asked, &netlink::bytes(WHOLE).unwrap()].concat()).unwrap();
        let told = one.remove(0);
        self.told.lock().unwrap().push(told.clone());
        if let Some((_, words)) = self.refuses.filter(|(handle, _)| *handle == told.handle) {
            return words.to_owned();
        }
        let place =
            |has: &&mut Stated| (has.interface, has.handle) == (told.interface, told.handle);
        let has = all.iter_mut().find(place).expect("it is there");
        *has = told.clone();
        (self.twist)(has);
        // What RED held is gone (`red_change`, net/sched/sch_red.c), and so is any size table (`qdisc_change`, sch_api.c).
        let is_within = |one: &Stated| {
            one.interface == told.interface && one.parent & 0xffff_0000 == told.handle
        };
        all.retain(|one| told.kind != "red" || !is_within(one));
        DONE.to_owned()
    }
}

impl Shell for Kernel {
    fn run(&mut self, line: &str) -> Result<Vec<String>, String> {
        let (before, asked) = line.split_once("print \"\\n\" }' ").expect("a line for perl");
        let numbers = ["2", "3", "4"].map(str::to_owned);
        let mut said = if before.starts_with("cat ") { numbers.to_vec() } else { Vec::new() };
        said.extend(asked.split(' ').map(|hex| self.answers(&netlink::bytes(hex).unwrap())));
        Ok(said)
    }
}

/// One as a list has it.
fn listed(one: &Stated) -> String {
    let mut bytes = netlink::change(one);
    if let Some(sizes) = &one.sizes {
        let length = u16::try_from(sizes.len() + 4).unwrap();
        // `TCA_STAB`, nested.
        bytes.extend([length.to_ne_bytes(), 0x8008_u16.to_ne_bytes()].concat());
        bytes.extend(sizes);
        let length = u32::try_from(bytes.len()).unwrap();
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
    }
    hex(&bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn setting(path: &str, value: impl Into<serde_json::Value>) -> Setting {
    Setting { path: path.to_owned(), value: value.into() }
}

fn why_not(result: Result<(), ControlError>) -> String {
    result.expect_err("it is refused").to_string()
}

const RIGHT: Twist = |_| {};
/// RED of class 3, and of class 4, at each port.
const REDS: [u32; 6] = [0x14_0000, 0x13_0000, 0x14_0000, 0x13_0000, 0x14_0000, 0x13_0000];

#[test]
fn a_guest_states_what_its_lab_has_prepared() {
    let mut control = Kernel::new(RIGHT, None).control();
    let stated = control.snapshot().expect("it answers");
    // The least weight that `tc` takes is 1.
    assert_eq!(declared().differences(&stated), ["wred.weight"]);
    assert_eq!(stated.get("wred.weight"), Some(1.into()));
    let found = found::read(&declared(), &recorded()).expect("an answer");
    let first: Vec<String> =
        found.iter().take(9).map(|one| format!("{} {}", one.called, one.does)).collect();
    assert_eq!(
        first,
        [
            "eth0 2:3 bfifo limit 500000",
            "eth0 1:1 ets 8 bands, 2 strict, quanta [1024, 1024, 3072, 1024, 1024, 1024]",
            "eth0 2:1 bfifo limit 500000",
            "eth0 2:8 bfifo limit 500000",
            "eth0 2:4 red limit 500000, min 100000, max 100000, max_P 2147483648, Wlog 1, Scell_log 11, flags 1",
            "eth0 2:6 bfifo limit 500000",
            "eth0 2:2 bfifo limit 500000",
            "eth0 2:7 bfifo limit 500000",
            "eth0 2:5 red limit 500000, min 100000, max 100000, max_P 2147483648, Wlog 1, Scell_log 11, flags 1",
        ]
    );
}

#[test]
fn what_is_set_is_read_back_and_comes_back_at_the_end_the_last_first() {
    let kernel = Kernel::new(RIGHT, None);
    let mut control = kernel.control();
    let before = control.snapshot().expect("it answers");
    let as_it_was = kernel.has.lock().unwrap().clone();
    let weights = serde_json::json!([
        {"dwrr": 15}, {"dwrr": 10}, {"dwrr": 10}, {"dwrr": 60}, {"dwrr": 10}, "strict", "strict", "strict"
    ]);
    let settings = [
        setting("wred.kmin", "50000B"),
        setting("wred.kmax", "300000B"),
        setting("wred.pmax", "20%"),
        setting("wred.weight", 0),
        setting("wred.ecn", "ecn_none"),
        setting("wred.harddrop", true),
        setting("scheduler.queues", weights),
        setting("buffer.lossy_static_th", "200000B"),
    ];
    control.set(&settings).expect("it takes them");
    control.read_back(&settings).expect("it states them");
    let found = found::read(
        &declared(),
        &Kernel::run(&mut kernel.clone(), &found::line(&declared())).unwrap(),
    );
    let first: Vec<String> = found
        .expect("an answer")
        .iter()
        .take(9)
        .map(|one| format!("{} {}", one.called, one.does))
        .collect();
    assert_eq!(
        first,
        [
            "eth0 2:3 bfifo limit 200000",
            // 6 to 1.5 to 1: the weight that is least has a turn of a frame.
            "eth0 1:1 ets 8 bands, 3 strict, quanta [1030, 6180, 1030, 1030, 1545]",
            "eth0 2:1 bfifo limit 200000",
            "eth0 2:8 bfifo limit 200000",
            "eth0 2:4 red limit 200000, min 50000, max 300000, max_P 858993459, Wlog 0, Scell_log 0, flags 2",
            "eth0 2:6 bfifo limit 200000",
            "eth0 2:2 bfifo limit 200000",
            "eth0 2:7 bfifo limit 200000",
            "eth0 2:5 red limit 200000, min 50000, max 300000, max_P 858993459, Wlog 0, Scell_log 0, flags 2",
        ]
    );
    let made = kernel.told();
    control.restore(&before, &settings).expect("it takes it back");
    assert_eq!(control.snapshot(), Ok(before));
    let mut back = kernel.told().split_off(made.len());
    back.reverse();
    assert_eq!(back, made);
    // But for the table of idle times, of which the kernel tells the step alone.
    let differ = |(is, was): &(Stated, Stated)| is != was && was.kind != "red";
    let now = kernel.has.lock().unwrap().clone();
    assert_eq!(now.into_iter().zip(as_it_was).find(differ), None);
}

#[test]
fn what_is_so_already_is_not_told_and_what_is_one_queue_s_own_stays() {
    let kernel = Kernel::new(RIGHT, None);
    let other = |stated: &mut Stated| stated.options[8] ^= 1;
    let mut own = None;
    for stated in kernel.has.lock().unwrap().iter_mut() {
        if stated.kind == "red" && own.is_none() {
            other(stated);
            own = Some(stated.clone());
        }
    }
    let mut control = kernel.control();
    // Where queues differ there is no one value: what is declared stands.
    assert_eq!(control.snapshot().unwrap().get("wred.kmin"), Some("100KB".into()));
    control.set(&[setting("wred.pmax", "50%"), setting("wred.kmax", "100000B")]).expect("as it is");
    assert_eq!(kernel.told(), Vec::<u32>::new());
    control.set(&[setting("wred.pmax", "25%")]).expect("it takes it");
    assert_eq!(kernel.told(), REDS);
    let min = |one: &Stated| one.options[8..12].to_vec();
    let own = own.expect("there is one");
    let all = kernel.has.lock().unwrap();
    let same = all.iter().find(|one| (one.interface, one.handle) == (own.interface, own.handle));
    assert_eq!(same.map(min), Some(min(&own)));
}

#[test]
fn what_reads_back_otherwise_is_refused_by_name_and_put_back() {
    // As a kernel that keeps powers of two; that of 6.1 makes 256 of each lesser quantum, without a word.
    let kernel = Kernel::new(
        |one| {
            if one.kind == "bfifo" && one.options[..4] == 300_000_u32.to_ne_bytes() {
                one.options[..4].copy_from_slice(&262_144_u32.to_ne_bytes());
            }
        },
        None,
    );
    let mut control = kernel.control();
    let before = control.snapshot();
    let refused = why_not(control.set(&[setting("buffer.lossy_static_th", "300000B")]));
    assert_eq!(refused, "eth0 2:3 bfifo was set to limit 300000, and reads back limit 262144");
    assert_eq!(control.snapshot(), before);
}

#[test]
fn what_cannot_be_put_back_either_is_a_device_that_is_lost_with_both_reasons() {
    let keeps = |one: &mut Stated| {
        if one.kind == "bfifo" {
            one.options[..4].copy_from_slice(&262_144_u32.to_ne_bytes());
        }
    };
    let mut control = Kernel::new(keeps, None).control();
    let set = control.set(&[setting("buffer.lossy_static_th", "300000B")]);
    assert!(matches!(set, Err(ControlError::Lost(_))), "{set:?}");
    let told = why_not(set);
    let both =
        ["was set to limit 500000, and reads back", "was set to limit 300000, and reads back"];
    assert!(both.iter().all(|one| told.contains(one)), "{told}");
}

#[test]
fn what_the_kernel_refuses_is_told_in_its_words_and_what_it_took_is_put_back() {
    for (words, told) in [(REFUSED, "Invalid argument"), (SAID_WHY, "sch_ets: Invalid number")] {
        let kernel = Kernel::new(RIGHT, Some((0x13_0000, words)));
        let mut control = kernel.control();
        let before = control.snapshot();
        let refused = why_not(control.set(&[setting("wred.kmax", "200000B")]));
        assert!(
            refused.starts_with("eth0 2:5 red (limit 500000, min 100000, max 200000"),
            "{refused}"
        );
        assert!(refused.contains(told), "{refused}");
        assert_eq!(control.snapshot(), before);
    }
}

#[test]
fn what_no_queueing_discipline_can_be_is_refused_before_any_is_told() {
    let kernel = Kernel::new(RIGHT, None);
    let mut control = kernel.control();
    let mixed = serde_json::json!([
        {"dwrr": 10}, {"dwrr": 10}, {"dwrr": 10}, "strict", {"dwrr": 10}, {"dwrr": 10}, "strict", "strict"
    ]);
    let all = [
        setting("wred.pmax", "0%"),
        setting("wred.ecn", "ecn_green"),
        setting("wred.kmax", "5000000000B"),
        setting("buffer.lossy_static_th", serde_json::Value::Null),
        setting("scheduler.queues", mixed),
        setting("wred.marking", "dequeue"),
        setting("scheduler.pir", "5Mbps-L2"),
    ];
    let told: Vec<String> = all.into_iter().map(|one| why_not(control.set(&[one]))).collect();
    assert_eq!(
        told,
        [
            "wred.pmax=0%: eth0 2:4 red: RED has no chance of nothing",
            "wred.ecn=ecn_green: eth0 2:4 red: RED knows no colours",
            "wred.kmax=5000000000B: eth0 2:4 red: it counts to 4 GB",
            "buffer.lossy_static_th=null: eth0 2:3 bfifo: each of its queues has an end of its own",
            "scheduler.queues=[{\"dwrr\":10},{\"dwrr\":10},{\"dwrr\":10},\"strict\",{\"dwrr\":10},{\"dwrr\":10},\"strict\",\"strict\"]: eth0 1:1 ets: its strict bands come before all others: strict classes are those of the highest numbers",
            "wred.marking: no queueing discipline is set to it",
            "scheduler.pir: no queueing discipline is set to it",
        ]
    );
    assert_eq!(kernel.told(), Vec::<u32>::new());
}

/// The RED of class 3 at the first port, among all.
fn a_red(all: &mut [Stated]) -> &mut Stated {
    all.iter_mut().find(|one| one.handle == 0x13_0000).expect("it is there")
}

/// A queue has what the kernel lists as it does with a `stab` of 512 slots: `TCA_STAB_BASE`, and no table.
fn with_sizes(one: &mut Stated) {
    let mut sizes = vec![28, 0, 1, 0];
    sizes.extend([0; 24]);
    sizes[20..22].copy_from_slice(&512_u16.to_ne_bytes());
    one.sizes = Some(sizes);
}

/// Such a queue stands within that RED.
fn put_within(all: &mut Vec<Stated>, kind: &str, handle: u32) {
    let red = a_red(all).clone();
    let kind = kind.to_owned();
    let options = 500_000_u32.to_ne_bytes().to_vec();
    all.push(Stated { parent: red.handle | 1, handle, kind, options, ..red });
}

/// What a kernel has that has that, too, when it was told a threshold: why it was not, and each thing that it was told.
fn told_a_threshold(has: impl Fn(&mut Vec<Stated>)) -> (Option<String>, Vec<u32>) {
    let kernel = Kernel::new(RIGHT, None);
    has(&mut kernel.has.lock().unwrap());
    let as_it_was = kernel.has.lock().unwrap().clone();
    let mut control = kernel.control();
    let before = control.snapshot().expect("it answers");
    let settings = [setting("wred.kmax", "200000B")];
    let set = control.set(&settings);
    if set.is_err() {
        assert_eq!(*kernel.has.lock().unwrap(), as_it_was);
        assert_eq!(control.restore(&before, &settings), Ok(()));
    }
    (set.err().map(|why| why.to_string()), kernel.told())
}

#[test]
fn a_queue_with_a_size_table_is_not_changed() {
    let (why, told) = told_a_threshold(|all| with_sizes(a_red(all)));
    let want = "eth0 2:5 red has a size table (stab), which goes with a change, and which the kernel does not tell";
    assert_eq!((why.as_deref(), told), (Some(want), Vec::new()));
    // One that is not to be changed may have what it likes.
    let (why, told) = told_a_threshold(|all| {
        all.iter_mut().filter(|one| one.kind == "bfifo").for_each(with_sizes);
    });
    assert_eq!((why, told), (None, REDS.to_vec()));
}

#[test]
fn nothing_is_changed_beside_a_red_that_adapts() {
    // `TCA_RED_FLAGS` is the last of its options: a value, and what of it counts.
    let adapts = |one: &mut Stated| {
        let flags = one.options.len() - 8;
        one.options[flags] |= 4;
    };
    let (why, told) = told_a_threshold(|all| adapts(a_red(all)));
    let want = "eth0 2:5 red is adaptive: its max_P moves by itself";
    assert_eq!((why.as_deref(), told), (Some(want), Vec::new()));
    let kernel = Kernel::new(RIGHT, None);
    adapts(a_red(&mut kernel.has.lock().unwrap()));
    let other = [setting("buffer.lossy_static_th", "200000B")];
    assert_eq!(why_not(kernel.control().set(&other)), want);
    assert_eq!(kernel.told(), Vec::<u32>::new());
}

#[test]
fn a_red_is_not_changed_that_holds_another_queue_than_its_own() {
    for (kind, handle) in [("netem", 0x214_0000), ("bfifo", 0x214_0000), ("netem", 0)] {
        let (why, told) = told_a_threshold(|all| put_within(all, kind, handle));
        let name = format!("{kind} {:x}:", handle >> 16);
        let want = format!("eth0 2:5 red has {name} within it, which goes with a change");
        assert_eq!((why, told), (Some(want), Vec::new()));
    }
    let (why, told) = told_a_threshold(|all| put_within(all, "bfifo", 0));
    assert_eq!((why, told), (None, REDS.to_vec()));
}

#[test]
fn what_is_no_more_cannot_be_put_back_and_how_it_was_is_not_forgotten() {
    let kernel = Kernel::new(RIGHT, None);
    let mut control = kernel.control();
    let before = control.snapshot().expect("it answers");
    let settings = [setting("wred.kmax", "200000B")];
    control.set(&settings).expect("it takes it");
    // Another hand puts a queue of another kind in its place.
    let was = a_red(&mut kernel.has.lock().unwrap()).clone();
    *a_red(&mut kernel.has.lock().unwrap()) = Stated { kind: "netem".to_owned(), ..was.clone() };
    for _ in 0..2 {
        let lost = control.restore(&before, &settings);
        assert!(matches!(lost, Err(ControlError::Lost(_))), "{lost:?}");
        assert!(why_not(lost).ends_with("eth0 2:5 red is no more"));
    }
    *a_red(&mut kernel.has.lock().unwrap()) = was;
    assert_eq!(control.restore(&before, &settings), Ok(()));
    assert_eq!(control.snapshot(), Ok(before));
}

#[test]
fn what_another_hand_gave_a_size_table_meanwhile_is_not_put_back_over_it() {
    let kernel = Kernel::new(RIGHT, None);
    let mut control = kernel.control();
    let before = control.snapshot().expect("it answers");
    let settings = [setting("wred.kmax", "200000B")];
    control.set(&settings).expect("it takes it");
    with_sizes(a_red(&mut kernel.has.lock().unwrap()));
    let told = kernel.told();
    let refused = why_not(control.restore(&before, &settings));
    let why = "eth0 2:5 red has a size table (stab), which goes with a change, and which the kernel does not tell";
    assert_eq!(refused, why);
    assert_eq!(kernel.told(), told, "nothing is changed any more");
}

#[test]
fn a_port_without_its_scheduler_is_told() {
    let kernel = Kernel::new(RIGHT, None);
    let mut control = kernel.control();
    control.snapshot().expect("it answers");
    assert_eq!(control.remarks(), Vec::<String>::new());
    // The second port.
    kernel.has.lock().unwrap().retain(|one| one.interface != 3 || one.kind != "ets");
    control.snapshot().expect("it answers");
    assert_eq!(control.remarks(), ["eth1 has no ets: nothing is set at its queues, nor counted"]);
}

#[test]
fn a_list_that_breaks_off_or_was_changed_meanwhile_is_none() {
    let said = recorded();
    let mut answer = netlink::bytes(said.last().expect("an answer")).expect("hex");
    assert_eq!(netlink::read(&answer).map(|all| all.len()), Ok(32));
    // `-ENOBUFS`, in place of none.
    let code = answer.len() - 4;
    answer[code..].copy_from_slice(&(-105_i32).to_ne_bytes());
    assert_eq!(netlink::read(&answer), Err("No buffer space available".to_owned()));
    // And why, in words: `NLMSGERR_ATTR_MSG`, as long as its end says then.
    let end = answer.len() - 20;
    answer[end..end + 4].copy_from_slice(&28_u32.to_ne_bytes());
    answer.extend([8, 0, 1, 0, b'f', b'u', b'l', 0]);
    assert_eq!(netlink::read(&answer), Err("ful (No buffer space available)".to_owned()));
    let mut answer = netlink::bytes(said.last().expect("an answer")).expect("hex");
    // `NLM_F_DUMP_INTR`.
    answer[6] |= 0x10;
    assert_eq!(netlink::read(&answer), Err("they changed while they were read".to_owned()));
    assert!(netlink::read(&netlink::bytes(DONE).unwrap()).is_err(), "it lists nothing");
}

#[test]
fn an_answer_that_is_not_whole_is_none() {
    let said = recorded();
    let answer = said.last().expect("an answer");
    for odd in ["", "4", "zz", "+1", &answer[..answer.len() - 40], &answer[..200]] {
        let read = netlink::bytes(odd).and_then(|bytes| netlink::read(&bytes));
        assert!(read.is_err(), "{odd}");
    }
    assert!(netlink::done(&netlink::bytes(answer).unwrap()).is_err());
}

#[test]
fn the_table_of_idle_times_halves_the_average_each_time_that_its_weight_does() {
    // A frame of 1000 B lasts 800 us at 10 Mb/s. With W = 1/2 each of them halves it: 31 of them last 24.8 ms, 387 steps of 64 us.
    let (step, table) = table::idle(1, 10_000_000);
    assert_eq!((step, table[0], table[12], table[13], table[25], table[255]), (6, 0, 0, 1, 2, 31));
    // With W = 1/256 it takes 177.1 of them, 141.7 ms: 31 halves last 4.39 s, 268 steps of 16.384 ms.
    let (step, table) = table::idle(8, 10_000_000);
    assert_eq!((step, table[8], table[9], table[254], table[255]), (14, 0, 1, 29, 31));
    // With W = 1 nothing is left of what was.
    let (step, table) = table::idle(0, 10_000_000);
    assert_eq!((step, table[0], table[1]), (0, 0, 31));
}
