//! The port's XDP program: reads the clock, writes it in front of the frame, hands the frame to the port's socket.
//!
//! Hand-assembled, so that neither building nor running it needs a compiler for BPF. A frame of a queue that no socket
//! holds goes on to the kernel as if the program were not there.

use super::insn::Reg::{R0, R1, R2, R3, R4, R5, R6};
use super::insn::{
    Helper, Insn, add, call, copy, exit, load_u32, map, set, skip_if_greater, skip_unless_zero,
    store_u64,
};
use crate::port::Mono;

/// Bytes in front of the frame: the clock, then [`SEAL`].
pub(crate) const STAMP: u8 = 16;

/// Says that the clock in front of it is this frame's: the receiver breaks it before it gives the buffer back.
pub(super) const SEAL: i32 = 0x2119_0b5e;

/// `XDP_PASS`: on to the kernel.
const PASS: i32 = 2;

/// Fields of the program's argument (`struct xdp_md`).
const DATA: i16 = 0;
const DATA_META: i16 = 8;
const RX_QUEUE_INDEX: i16 = 16;

/// The program, with the socket map behind descriptor `sockets`.
pub(crate) fn assemble(sockets: i32) -> Vec<Insn> {
    let [map_low, map_high] = map(R1, sockets);
    let room = i32::from(STAMP);
    vec![
        copy(R6, R1),
        // if (bpf_xdp_adjust_meta(ctx, -16) != 0) goto redirect: a driver without room in front of the frame
        set(R2, -room),
        call(Helper::XdpAdjustMeta),
        skip_unless_zero(R0, 9),
        call(Helper::KtimeGetNs),
        load_u32(R2, R6, DATA_META),
        load_u32(R3, R6, DATA),
        // if (data_meta + 16 > data) goto redirect: never so, and the verifier wants it said
        copy(R4, R2),
        add(R4, room),
        skip_if_greater(R4, R3, 3),
        store_u64(R2, 0, R0),
        set(R5, SEAL),
        store_u64(R2, 8, R5),
        // redirect: return bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS)
        load_u32(R2, R6, RX_QUEUE_INDEX),
        map_low,
        map_high,
        set(R3, PASS),
        call(Helper::RedirectMap),
        exit(),
    ]
}

/// The clock in the [`STAMP`] bytes in front of a frame, when the program wrote it for this frame.
pub(crate) fn sealed(stamp: &[u8]) -> Option<Mono> {
    let (clock, seal) = stamp.split_first_chunk::<8>()?;
    let seal = seal.first_chunk::<8>()?;
    let sealed = i64::from_ne_bytes(*seal) == i64::from(SEAL);
    sealed.then(|| Mono(u64::from_ne_bytes(*clock)))
}

/// The same. Breaks the seal, so that it does not count for the next frame in the same place.
pub(crate) fn unseal(stamp: &mut [u8]) -> Option<Mono> {
    let clock = sealed(stamp);
    if let Some(seal) = stamp.get_mut(8..16) {
        seal.fill(0);
    }
    clock
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_counts_once() {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&77_u64.to_ne_bytes());
        assert_eq!(unseal(&mut bytes), None, "no seal");
        bytes[8..].copy_from_slice(&i64::from(SEAL).to_ne_bytes());
        assert_eq!(sealed(&bytes), Some(Mono(77)), "looked at, and no more");
        assert_eq!(unseal(&mut bytes), Some(Mono(77)));
        assert_eq!(unseal(&mut bytes), None, "left over from the frame before");
    }

    #[test]
    fn both_ways_around_the_stamp_end_at_the_redirect() {
        let program = assemble(3);
        let redirect = load_u32(R2, R6, RX_QUEUE_INDEX);
        let at = program.iter().position(|insn| *insn == redirect).expect("a redirect");
        let skips = [(3, skip_unless_zero(R0, 9)), (9, skip_if_greater(R4, R3, 3))];
        for (from, skip) in skips {
            assert_eq!(program[from], skip);
        }
        assert_eq!([3 + 1 + 9, 9 + 1 + 3], [at, at]);
    }
}
