//! How frames of the rig are protected by MACsec (IEEE 802.1AE), and what is done to them on purpose.

/// What is wrong with a protected frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Harm {
    /// The ICV is wrong, all else as it was.
    Forged,
    /// Sealed with a key that nobody has.
    WrongKey,
    /// It names a secure channel that the peer does not have.
    WrongSci,
    /// Cut within the SecTAG.
    Truncated,
}

/// How a frame is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Shield {
    /// As the peer of the device would.
    #[default]
    Usual,
    /// In clear.
    Clear,
    /// Protected, with nothing wrong.
    Sound,
    /// Sound, with the packet number of the frame before.
    Replayed,
    /// Protected, and something is wrong with it.
    Harmed(Harm),
}
