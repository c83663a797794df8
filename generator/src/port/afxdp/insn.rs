//! BPF instructions, as many as the port's program has.

/// One instruction slot (`struct bpf_insn`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Insn {
    code: u8,
    /// Source in the upper half, destination in the lower one.
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// A register: results in 0, arguments in 1 to 5, kept over calls 6 to 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Reg {
    R0 = 0,
    R1 = 1,
    R2 = 2,
    R3 = 3,
    R4 = 4,
    R5 = 5,
    R6 = 6,
}

/// A function of the kernel (`enum bpf_func_id`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Helper {
    /// CLOCK_MONOTONIC in nanoseconds.
    KtimeGetNs = 5,
    /// Sends the frame to what a map holds.
    RedirectMap = 51,
    /// Makes room in front of the frame.
    XdpAdjustMeta = 54,
}

const fn insn(code: u8, dst: Reg, src: u8, offset: i16, immediate: i32) -> Insn {
    Insn { code, registers: (src << 4) | dst as u8, offset, immediate }
}

/// `dst = src`
pub(crate) const fn copy(dst: Reg, src: Reg) -> Insn {
    insn(0xbf, dst, src as u8, 0, 0)
}

/// `dst = value`
pub(crate) const fn set(dst: Reg, value: i32) -> Insn {
    insn(0xb7, dst, 0, 0, value)
}

/// `dst += value`
pub(crate) const fn add(dst: Reg, value: i32) -> Insn {
    insn(0x07, dst, 0, 0, value)
}

/// `dst = *(u32 *)(src + offset)`
pub(crate) const fn load_u32(dst: Reg, src: Reg, offset: i16) -> Insn {
    insn(0x61, dst, src as u8, offset, 0)
}

/// `*(u64 *)(dst + offset) = src`
pub(crate) const fn store_u64(dst: Reg, offset: i16, src: Reg) -> Insn {
    insn(0x7b, dst, src as u8, offset, 0)
}

/// `dst = the map behind this descriptor`; takes two slots.
pub(crate) const fn map(dst: Reg, fd: i32) -> [Insn; 2] {
    const A_MAP: u8 = 1;
    [insn(0x18, dst, A_MAP, 0, fd), insn(0, Reg::R0, 0, 0, 0)]
}

/// Skips `slots` when `reg` is not zero.
pub(crate) const fn skip_unless_zero(reg: Reg, slots: i16) -> Insn {
    insn(0x55, reg, 0, slots, 0)
}

/// Skips `slots` when `a` is greater than `b`, neither taken as signed.
pub(crate) const fn skip_if_greater(a: Reg, b: Reg, slots: i16) -> Insn {
    insn(0x2d, a, b as u8, slots, 0)
}

/// `R0 = helper(R1 ...)`
pub(crate) const fn call(helper: Helper) -> Insn {
    insn(0x85, Reg::R0, 0, 0, helper as i32)
}

/// Ends the program; what R0 holds is its answer.
pub(crate) const fn exit() -> Insn {
    insn(0x95, Reg::R0, 0, 0, 0)
}
