use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

const RECORDED: &str = include_str!("../../testdata/dcb/iproute2-6.1.txt");
const NET: &str = "ens1f0np0";

/// How `dcb` was called, what it sent and was answered, and what it printed.
#[derive(Debug, Default)]
struct Call {
    words: String,
    sent: Vec<Vec<u8>>,
    /// Behind each message that was sent.
    answers: Vec<Vec<u8>>,
    printed: String,
}

impl Call {
    /// The message that sets or takes something out, and what all was before.
    fn change(&self) -> (Dcb, &[u8]) {
        let before = self.answers.first().and_then(|answer| read(answer).ok());
        (before.unwrap_or_default(), self.sent.last().expect("it sends something"))
    }
}

fn calls() -> Vec<Call> {
    let bytes = |hex: &str| -> Vec<u8> {
        let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { panic!("{hex}") };
        let byte = |pair| u8::from_str_radix(str::from_utf8(pair).expect("hex"), 16).expect("hex");
        pairs.iter().map(|pair| byte(pair.as_slice())).collect()
    };
    let mut all: Vec<Call> = Vec::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let (kind, text) = line.split_once(' ').expect("a sign and a text");
        if kind == "$" {
            all.push(Call { words: text.to_owned(), ..Call::default() });
            continue;
        }
        let call = all.last_mut().expect("a call comes first");
        match kind {
            ">" => {
                call.sent.push(bytes(text));
                call.answers.push(Vec::new());
            }
            "<" => call.answers.last_mut().expect("one was asked").extend(bytes(text)),
            "=" => call.printed = text.to_owned(),
            _ => panic!("{line}"),
        }
    }
    all
}

fn call<'c>(all: &'c [Call], words: &str) -> &'c Call {
    all.iter().find(|call| call.words.contains(words)).unwrap_or_else(|| panic!("{words}"))
}

#[test]
fn what_is_sent_is_what_iproute2_sends_byte_for_byte() {
    let all = calls();
    for call in all.iter().filter(|call| call.words.contains("show")) {
        assert_eq!(call.sent, [get(NET)], "{}", call.words);
    }
    let (now, sent) = call(&all, "pfc set").change();
    let pfc = Pfc { on: 0b11000, ..now.pfc.expect("it has PFC") };
    assert_eq!(set(NET, &Part::Pfc(pfc)), sent);
    let (now, sent) = call(&all, "ets set").change();
    let mut selection = [Selection::Strict; CLASSES];
    selection[..2].fill(Selection::Ets);
    let sent_as = [30, 70, 0, 0, 0, 0, 0, 0];
    let classes = [1, 0, 0, 0, 1, 1, 2, 0];
    let ets = Ets { selection, classes, sent: sent_as, ..now.ets.expect("it has ETS") };
    assert_eq!(set(NET, &Part::Ets(ets)), sent);
    let (_, sent) = call(&all, "maxrate set").change();
    // `dcb` of that version sends bytes a second.
    let rates = [0, 0, 250_000_000, 0, 0, 0, 0, 0];
    assert_eq!(set(NET, &Part::MaxRate(rates)), sent);
    let (now, sent) = call(&all, "buffer set").change();
    let of = [0, 0, 0, 1, 1, 0, 0, 0];
    let buffer = Buffer { of, ..now.buffer.expect("it has buffers") };
    assert_eq!(set(NET, &Part::Buffer(buffer)), sent);
    let (_, sent) = call(&all, "app add").change();
    assert_eq!(set(NET, &Part::App(vec![App::of_dscp(48, 6)])), sent);
    let (_, sent) = call(&all, "app del").change();
    assert_eq!(delete(NET, &[App::of_dscp(26, 3)]), sent);
}

#[test]
fn what_is_answered_reads_as_iproute2_prints_it() {
    let all = calls();
    let mut seen = 0;
    for Call { words, answers, printed, .. } in
        all.iter().filter(|call| call.words.contains("show"))
    {
        let Ok(printed) = serde_json::from_str::<Value>(printed) else { continue };
        let dcb = read(&answers[0]).expect("an answer");
        let (ets, pfc, buffer) =
            (dcb.ets.expect("ETS"), dcb.pfc.expect("PFC"), dcb.buffer.expect("buffers"));
        let word = |selection: &Selection| match selection {
            Selection::Strict => "strict",
            Selection::Ets => "ets",
            Selection::Vendor => "vendor",
            _ => "another",
        };
        let mut own = json!({
            "prio_pfc": (0..8).map(|class| pfc.on & 1 << class != 0).collect::<Vec<_>>(),
            "pfc_cap": pfc.most, "macsec_bypass": pfc.macsec_bypass != 0, "delay": pfc.delay,
            "requests": pfc.requests, "indications": pfc.indications,
            "willing": ets.willing != 0, "ets_cap": ets.most, "cbs": ets.credit_shaper != 0,
            "tc_bw": ets.sent, "pg_bw": ets.received, "prio_tc": ets.classes,
            "tc_tsa": ets.selection.iter().map(word).collect::<Vec<_>>(),
            "reco_tc_bw": ets.recommended[0], "reco_prio_tc": ets.recommended[2],
            "reco_tc_tsa": vec!["strict"; 8], "tc_maxrate": dcb.max_rate,
            "prio_buffer": buffer.of, "buffer_size": buffer.bytes, "total_size": buffer.total,
            "dscp_prio": dcb.app.iter().filter_map(|app| Some((app.dscp()?, app.priority))).collect::<Vec<_>>(),
            "dgram_port_prio": [[4791, 3]],
        });
        for word in dcb.owner.expect("DCBX").words().split(' ') {
            own[word] = true.into();
        }
        for (key, value) in printed.as_object().expect("an object") {
            assert_eq!(own[key], *value, "{words}: {key}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn a_refusal_is_one_whether_the_kernel_says_it_or_the_driver_alone() {
    let all = calls();
    for set in ["pfc set", "ets set", "buffer set", "app add", "app del"] {
        assert_eq!(done(call(&all, set).answers.last().expect("answered")), Ok(()), "{set}");
    }
    // The driver's number stands in an answer whose status is that all is well.
    let refused = all.iter().rfind(|call| call.words.contains("maxrate set")).expect("one");
    let fault = done(refused.answers.last().expect("answered")).expect_err("refused");
    assert_eq!(fault.to_string(), "Invalid argument");
    let none = all.last().expect("the last one has no DCB");
    assert_eq!(none.printed, "Attribute read: Operation not supported");
    let fault = read(&none.answers[0]).expect_err("refused");
    assert_eq!(fault.to_string(), "its driver has no DCB");
    // An answer to another question is none.
    let got = &call(&all, "ets show").answers[0];
    assert!(done(got).is_err_and(|fault| fault.to_string().starts_with("no answer of DCB")));
    assert!(read(&[]).is_err());
}

#[test]
fn the_kernel_of_this_machine_answers() {
    let told = |net: &str| {
        let answer = exchange(&get(net)).expect("a socket");
        read(&answer).map_err(|fault| fault.to_string())
    };
    // No loopback has DCB; a kernel that is built without says so, too.
    assert_eq!(told("lo"), Err("its driver has no DCB".to_owned()));
    let gone = told("nosuch0");
    let none = ["there is no such interface", "its driver has no DCB"];
    assert!(gone.as_ref().is_err_and(|why| none.contains(&why.as_str())), "{gone:?}");
}

proptest! {
    #[test]
    fn whatever_is_answered_is_read_or_refused(at in 0_usize..430, to in any::<u8>(), cut in 0_usize..430) {
        let mut answer = call(&calls(), "ets show").answers[0].clone();
        if let Some(byte) = answer.get_mut(at) {
            *byte = to;
        }
        answer.truncate(answer.len().saturating_sub(cut));
        let _either = (read(&answer), done(&answer));
    }
}
