//! How deep queues may be for ECN to come before PFC wherever the load is (DCQCN, SIGCOMM'15, section 4).
//!
//! The worst that may be: every queue of every port holds t bytes, c lossless classes and n ports, so that the pool holds c n t; and all that
//! one of them holds came in by one port, so that one group holds n t. It is within its limit of alpha (B - c n t) while
//! t < alpha B / (n (1 + alpha c)). The paper writes alpha as beta / 8 and c as 8.

use rig_lab::Buffer;

/// Where the form comes from, for reports.
pub const BEFORE_PFC_SOURCE: &str =
    "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM'15, section 4";

/// The depth t, in bytes, up to which no queue makes the device send PFC, whatever the load. A static limit is shared by n ports.
pub fn before_any_pfc(buffer: &Buffer, ports: u16, classes: usize) -> u64 {
    let (ports, classes) = (u64::from(ports.max(1)), u128::try_from(classes).unwrap_or(u128::MAX));
    if let Some(limit) = buffer.static_th {
        return limit.0 / ports;
    }
    let power = 1_u128 << buffer.dynamic_th.unsigned_abs().min(63);
    let (num, den) = if buffer.dynamic_th < 0 { (1, power) } else { (power, 1) };
    let depth = u128::from(buffer.pool.0) * num / (u128::from(ports) * (den + num * classes));
    u64::try_from(depth).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Bytes;

    /// 12 MB, 32 ports, 8 priorities, 22.4 KB of headroom each.
    fn of_the_paper() -> Buffer {
        Buffer { dynamic_th: 0, ..Buffer::plain(12_000_000 - 8 * 32 * 22_400, 0) }
    }

    #[test]
    fn the_papers_bound_of_21_75_kilobytes_comes_out() {
        // beta = 8: t < 8 (12 MB - 8 x 32 x 22.4 KB) / (8 x 32 x 9) = 21.755 KB.
        assert_eq!(before_any_pfc(&of_the_paper(), 32, 8), 21_755);
    }

    #[test]
    fn a_static_limit_is_divided_among_the_ports() {
        // The paper's static limit: 6 265 600 / (8 x 32) = 24.47 KB; less than one MTU for each port.
        let limit = Bytes(6_265_600 / 256);
        assert_eq!(limit, Bytes(24_475));
        let buffer = Buffer { static_th: Some(limit), ..of_the_paper() };
        assert_eq!(before_any_pfc(&buffer, 32, 8), 764);
    }

    #[test]
    fn a_smaller_alpha_leaves_less() {
        // 1/8: 6 265 600 / (32 (8 + 8)) = 12.237 KB.
        let buffer = Buffer { dynamic_th: -3, ..of_the_paper() };
        assert_eq!(before_any_pfc(&buffer, 32, 8), 12_237);
    }
}
