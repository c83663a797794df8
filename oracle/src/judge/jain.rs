//! How evenly something is shared, in one number.

/// Jain's index, for people: the square of the sum over so many times the sum of squares. It is 1 where all have the same.
pub fn jain(counts: impl Iterator<Item = u64>) -> String {
    let (mut number, mut sum, mut squares) = (0_u128, 0_u128, 0_u128);
    for count in counts.map(u128::from) {
        (number, sum, squares) = (number + 1, sum + count, squares + count * count);
    }
    let parts = sum * sum * 10_000 / (number * squares).max(1);
    format!("an index of {}.{:04}", parts / 10_000, parts % 10_000)
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn who_have_the_same_have_an_index_of_one_and_who_has_all_one_over_so_many() {
        assert_eq!(jain([7; 4].into_iter()), "an index of 1.0000");
        assert_eq!(jain([7, 0, 0, 0].into_iter()), "an index of 0.2500");
        assert_eq!(jain([2, 1].into_iter()), "an index of 0.9000");
        assert_eq!(jain([].into_iter()), "an index of 0.0000");
    }
}
