pub mod fees;

pub struct Account {
    pub owner: String,
    pub cents: i64,
}

pub fn transfer(from: &mut Account, to: &mut Account, cents: i64) {
    let fee = fees::fee_of(cents);
    from.cents -= cents + fee;
    to.cents += cents - fee;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_keeps_the_sum() {
        let mut ann = Account { owner: "Ann".into(), cents: 1000 };
        let mut bob = Account { owner: "Bob".into(), cents: 0 };
        transfer(&mut ann, &mut bob, 100);
        let sum = ann.cents + bob.cents;
        assert_eq!(sum, 1000);
    }

    #[test]
    fn a_small_one_is_free() {
        assert_eq!(fees::fee_of(10), 0);
    }
}
