pub fn fee_of(cents: i64) -> i64 {
    cents / 50
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_fee_is_two_percent() {
        assert_eq!(super::fee_of(100), 3);
    }
}
