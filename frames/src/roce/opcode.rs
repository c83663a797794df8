//! BTH opcodes of the RC, UC and UD services, and CNP: which headers follow and whether a payload may.
//!
//! From IBTA Vol 1, 9.2 (opcodes and the headers they ask for) and 9.4 (payloads), Annex A17 (CNP).
//! The payload is `none`, `mtu` (exactly the path MTU), `tail` (1 byte to the path MTU) or `any` (0 to the path MTU).
//!
//! | code | name | headers after the BTH | payload |
//! | --- | --- | --- | --- |
//! | 0x00 | RC SEND first | - | mtu |
//! | 0x01 | RC SEND middle | - | mtu |
//! | 0x02 | RC SEND last | - | tail |
//! | 0x03 | RC SEND last with immediate | ImmDt | tail |
//! | 0x04 | RC SEND only | - | any |
//! | 0x05 | RC SEND only with immediate | ImmDt | any |
//! | 0x06 | RC WRITE first | RETH | mtu |
//! | 0x07 | RC WRITE middle | - | mtu |
//! | 0x08 | RC WRITE last | - | tail |
//! | 0x09 | RC WRITE last with immediate | ImmDt | tail |
//! | 0x0a | RC WRITE only | RETH | any |
//! | 0x0b | RC WRITE only with immediate | RETH, ImmDt | any |
//! | 0x0c | RC READ request | RETH | none |
//! | 0x0d | RC READ response first | AETH | mtu |
//! | 0x0e | RC READ response middle | - | mtu |
//! | 0x0f | RC READ response last | AETH | tail |
//! | 0x10 | RC READ response only | AETH | any |
//! | 0x11 | RC acknowledge | AETH | none |
//! | 0x12 | RC atomic acknowledge | AETH, AtomicAckETH | none |
//! | 0x13 | RC compare and swap | AtomicETH | none |
//! | 0x14 | RC fetch and add | AtomicETH | none |
//! | 0x16 | RC SEND last with invalidate | IETH | tail |
//! | 0x17 | RC SEND only with invalidate | IETH | any |
//! | 0x20 | UC SEND first | - | mtu |
//! | 0x21 | UC SEND middle | - | mtu |
//! | 0x22 | UC SEND last | - | tail |
//! | 0x23 | UC SEND last with immediate | ImmDt | tail |
//! | 0x24 | UC SEND only | - | any |
//! | 0x25 | UC SEND only with immediate | ImmDt | any |
//! | 0x26 | UC WRITE first | RETH | mtu |
//! | 0x27 | UC WRITE middle | - | mtu |
//! | 0x28 | UC WRITE last | - | tail |
//! | 0x29 | UC WRITE last with immediate | ImmDt | tail |
//! | 0x2a | UC WRITE only | RETH | any |
//! | 0x2b | UC WRITE only with immediate | RETH, ImmDt | any |
//! | 0x64 | UD SEND only | DETH | any |
//! | 0x65 | UD SEND only with immediate | DETH, ImmDt | any |
//! | 0x81 | CNP | 16 reserved bytes | none |

use super::ext::Layout;
use core::fmt;

/// Which payload an opcode allows. The path MTU is a property of the connection, so only its owner can judge a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payload {
    /// No payload.
    None,
    /// Exactly the path MTU.
    Mtu,
    /// One byte to the path MTU.
    Tail,
    /// Nothing to the path MTU.
    Any,
}

macro_rules! opcodes {
    ($($name:ident = $code:literal, $text:literal, $layout:ident, $payload:ident;)*) => {
        /// An opcode; the table stands in the [module's](self) header.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Opcode {
            $(#[doc = $text] $name = $code,)*
        }

        impl Opcode {
            /// All of them, by code.
            pub const ALL: &[Opcode] = &[$(Opcode::$name),*];

            /// The opcode with this code, if the rig knows it.
            pub const fn new(code: u8) -> Option<Opcode> {
                match code {
                    $($code => Some(Opcode::$name),)*
                    _ => None,
                }
            }

            /// The byte on the wire.
            pub const fn code(self) -> u8 {
                match self {
                    $(Opcode::$name => $code,)*
                }
            }

            /// The headers that follow the BTH.
            pub const fn layout(self) -> Layout {
                match self {
                    $(Opcode::$name => Layout::$layout,)*
                }
            }

            /// The payload it allows.
            pub const fn payload(self) -> Payload {
                match self {
                    $(Opcode::$name => Payload::$payload,)*
                }
            }

            /// Its name, as in the table.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Opcode::$name => $text,)*
                }
            }
        }
    };
}

opcodes! {
    RcSendFirst = 0x00, "RC SEND first", Plain, Mtu;
    RcSendMiddle = 0x01, "RC SEND middle", Plain, Mtu;
    RcSendLast = 0x02, "RC SEND last", Plain, Tail;
    RcSendLastImm = 0x03, "RC SEND last with immediate", Imm, Tail;
    RcSendOnly = 0x04, "RC SEND only", Plain, Any;
    RcSendOnlyImm = 0x05, "RC SEND only with immediate", Imm, Any;
    RcWriteFirst = 0x06, "RC WRITE first", Reth, Mtu;
    RcWriteMiddle = 0x07, "RC WRITE middle", Plain, Mtu;
    RcWriteLast = 0x08, "RC WRITE last", Plain, Tail;
    RcWriteLastImm = 0x09, "RC WRITE last with immediate", Imm, Tail;
    RcWriteOnly = 0x0a, "RC WRITE only", Reth, Any;
    RcWriteOnlyImm = 0x0b, "RC WRITE only with immediate", RethImm, Any;
    RcReadRequest = 0x0c, "RC READ request", Reth, None;
    RcReadResponseFirst = 0x0d, "RC READ response first", Aeth, Mtu;
    RcReadResponseMiddle = 0x0e, "RC READ response middle", Plain, Mtu;
    RcReadResponseLast = 0x0f, "RC READ response last", Aeth, Tail;
    RcReadResponseOnly = 0x10, "RC READ response only", Aeth, Any;
    RcAcknowledge = 0x11, "RC acknowledge", Aeth, None;
    RcAtomicAcknowledge = 0x12, "RC atomic acknowledge", AethAtomicAck, None;
    RcCompareSwap = 0x13, "RC compare and swap", Atomic, None;
    RcFetchAdd = 0x14, "RC fetch and add", Atomic, None;
    RcSendLastInvalidate = 0x16, "RC SEND last with invalidate", Ieth, Tail;
    RcSendOnlyInvalidate = 0x17, "RC SEND only with invalidate", Ieth, Any;
    UcSendFirst = 0x20, "UC SEND first", Plain, Mtu;
    UcSendMiddle = 0x21, "UC SEND middle", Plain, Mtu;
    UcSendLast = 0x22, "UC SEND last", Plain, Tail;
    UcSendLastImm = 0x23, "UC SEND last with immediate", Imm, Tail;
    UcSendOnly = 0x24, "UC SEND only", Plain, Any;
    UcSendOnlyImm = 0x25, "UC SEND only with immediate", Imm, Any;
    UcWriteFirst = 0x26, "UC WRITE first", Reth, Mtu;
    UcWriteMiddle = 0x27, "UC WRITE middle", Plain, Mtu;
    UcWriteLast = 0x28, "UC WRITE last", Plain, Tail;
    UcWriteLastImm = 0x29, "UC WRITE last with immediate", Imm, Tail;
    UcWriteOnly = 0x2a, "UC WRITE only", Reth, Any;
    UcWriteOnlyImm = 0x2b, "UC WRITE only with immediate", RethImm, Any;
    UdSendOnly = 0x64, "UD SEND only", Deth, Any;
    UdSendOnlyImm = 0x65, "UD SEND only with immediate", DethImm, Any;
    Cnp = 0x81, "CNP", Cnp, None;
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(opcode: Opcode) -> String {
        let headers = match opcode.layout() {
            Layout::Plain => "-",
            Layout::Imm => "ImmDt",
            Layout::Ieth => "IETH",
            Layout::Reth => "RETH",
            Layout::RethImm => "RETH, ImmDt",
            Layout::Aeth => "AETH",
            Layout::AethAtomicAck => "AETH, AtomicAckETH",
            Layout::Atomic => "AtomicETH",
            Layout::Deth => "DETH",
            Layout::DethImm => "DETH, ImmDt",
            Layout::Cnp => "16 reserved bytes",
        };
        let payload = format!("{:?}", opcode.payload()).to_lowercase();
        format!("//! | {:#04x} | {opcode} | {headers} | {payload} |", opcode.code())
    }

    #[test]
    fn the_table_above_is_what_the_code_does() {
        let written: Vec<&str> =
            include_str!("opcode.rs").lines().filter(|line| line.starts_with("//! | 0x")).collect();
        let done: Vec<String> = Opcode::ALL.iter().map(|&opcode| row(opcode)).collect();
        assert_eq!(written, done);
    }

    #[test]
    fn codes_and_opcodes_are_one_to_one() {
        for code in 0..=u8::MAX {
            assert!(Opcode::new(code).is_none_or(|opcode| opcode.code() == code));
        }
        assert_eq!((0..=u8::MAX).filter_map(Opcode::new).count(), Opcode::ALL.len());
    }
}
