//! What each fault says, in full.

use super::*;

#[test]
fn every_fault_names_the_interface_and_what_mends_it() {
    let os = |errno| Fault::of("bind to the queue", errno);
    let all = [
        Fault::NoInterface,
        Fault::Down,
        Fault::NoLink { waited: Dur::s(5) },
        Fault::Gone,
        Fault::NoQueue { queue: 7 },
        os(Errno::EPERM),
        Fault::Occupied { program: 17, attached: Attached::Native },
        Fault::Occupied { program: 18, attached: Attached::Generic },
        Fault::Busy { queue: 0, waited: Dur::s(2) },
        Fault::MtuTooSmall { mtu: 1500, longest: 4174 },
        os(Errno::EAFNOSUPPORT),
        Fault::Rejected { errno: Errno::EACCES, log: "R0 !read_ok".to_owned() },
        os(Errno::EINVAL),
        os(Errno::ENOBUFS),
        Fault::Dpdk(Box::new(DpdkFault::Again)),
    ];
    let said: String = all.into_iter().map(|fault| format!("{}\n", fault.at("eth7"))).collect();
    insta::assert_snapshot!(said);
}

#[test]
fn the_answer_alone_tells_some_faults() {
    let of = |errno| Fault::of("send", errno);
    assert_eq!(of(Errno::ENETDOWN), Fault::Down);
    assert_eq!([of(Errno::ENXIO), of(Errno::ENODEV)], [Fault::Gone, Fault::Gone]);
    let not_permitted = Fault::NotPermitted { tried: "send", errno: Errno::EACCES };
    assert_eq!(of(Errno::EACCES), not_permitted);
    assert_eq!(of(Errno::ENOSYS), Fault::NoSupport { tried: "send", errno: Errno::ENOSYS });
}
