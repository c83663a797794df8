//! Both halves of both ports at once, each on a thread of its own.

use crate::lab::{Lab, numbered, receive, send};
use rig_generator::port::{Backend, Receive, Transmit};
use std::thread;

const ALL: u64 = 20_000;

fn sends(mut tx: Box<dyn Transmit>) -> u64 {
    let mut lost = 0;
    for first in (0..ALL).step_by(32) {
        let batch: Vec<Vec<u8>> = (first..first + 32).map(|seq| numbered(100, seq)).collect();
        lost += send(&mut *tx, batch.iter().map(Vec::as_slice));
    }
    lost
}

/// Receives whatever comes in the order of its numbers; how many frames, and how many the port counts as lost.
fn receives(mut rx: Box<dyn Receive>) -> (u64, u64) {
    let mut next = 0;
    let mut count = 0;
    loop {
        let got = receive(&mut *rx, 64);
        for (bytes, _) in &got {
            let seq = u64::from_be_bytes(bytes[14..22].try_into().expect("8 B"));
            assert_eq!(*bytes, numbered(100, seq));
            assert!(seq >= next, "{seq} after {next}");
            next = seq + 1;
            count += 1;
        }
        let lost = rx.stats().expect("counters").rx_lost();
        if got.is_empty() || count + lost == ALL {
            return (count, lost);
        }
    }
}

#[test]
fn halves_on_four_threads_pass_every_frame_or_count_it() {
    for backend in [Backend::AfXdp, Backend::AfPacket] {
        let Some(lab) = Lab::new(1_500) else { return };
        let [one, other] = lab.ports(|config| config.backend = backend);
        thread::scope(|scope| {
            let readers = [other.rx, one.rx].map(|rx| scope.spawn(|| receives(rx)));
            let writers = [one.tx, other.tx].map(|tx| scope.spawn(|| sends(tx)));
            for (writer, reader) in writers.into_iter().zip(readers) {
                let lost_on_sending = writer.join().expect("a thread");
                let (got, lost) = reader.join().expect("a thread");
                assert_eq!(got + lost + lost_on_sending, ALL, "{backend:?}: {got} received");
            }
        });
    }
}
