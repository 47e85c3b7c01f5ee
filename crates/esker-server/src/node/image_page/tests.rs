//! Requests and answers come back as they went, and nothing else is taken for one.

use esker::internals::env::random::Random;

use super::*;

fn requests() -> Vec<PageRequest> {
    let wishes = [
        Wish::Behind(None),
        Wish::Behind(Some(b"quay".to_vec())),
        Wish::Arrived,
        Wish::Lost,
    ];
    let from = Member {
        group: GroupId(9),
        replica: ReplicaId(3),
    };
    let request = |wish| PageRequest {
        from,
        to: ReplicaId(4),
        index: 77,
        wish,
    };
    wishes.into_iter().map(request).collect()
}

fn answers() -> Vec<PageAnswer> {
    let rows = vec![(b"a".to_vec(), b"1".to_vec()), (b"b".to_vec(), Vec::new())];
    let mut tally = Tally::default();
    rows.iter().for_each(|(key, value)| tally.add(key, value));
    let whole = Whole {
        tally,
        mark: b"mark".to_vec(),
    };
    vec![
        PageAnswer::Gone,
        PageAnswer::Heard,
        PageAnswer::Rows(rows.clone(), None),
        PageAnswer::Rows(rows, Some(whole.clone())),
        PageAnswer::Rows(Vec::new(), Some(whole)),
    ]
}

#[test]
fn what_is_said_comes_back() {
    for request in requests() {
        assert_eq!(PageRequest::decode(&request.encode()), Some(request));
    }
    for answer in answers() {
        assert_eq!(PageAnswer::decode(&answer.encode()), Some(answer));
    }
}

#[test]
fn any_bytes_are_refused_or_come_back_as_they_are() {
    let mut dice = Random::new(11);
    let requests = requests().into_iter().map(|it| it.encode());
    let answers = answers().into_iter().map(|it| it.encode());
    let all: Vec<Vec<u8>> = requests.chain(answers).collect();
    for _ in 0..30_000 {
        let mut bytes = all[usize::try_from(dice.below(all.len() as u64)).unwrap()].clone();
        let at = usize::try_from(dice.below(bytes.len() as u64)).unwrap();
        bytes[at] ^= 1 << dice.below(8);
        bytes.truncate(
            usize::try_from(dice.below(bytes.len() as u64 + 4))
                .unwrap()
                .max(1),
        );
        if let Some(answer) = PageAnswer::decode(&bytes) {
            assert_eq!(answer.encode(), bytes);
        }
        if let Some(request) = PageRequest::decode(&bytes) {
            assert_eq!(request.encode(), bytes);
        }
    }
}

#[test]
fn a_row_that_is_missing_or_changed_is_another_tally() {
    let tally = |rows: &[(&[u8], &[u8])]| {
        let mut tally = Tally::default();
        rows.iter().for_each(|(key, value)| tally.add(key, value));
        tally
    };
    let whole = tally(&[(b"ab", b"c"), (b"d", b"")]);
    assert_ne!(whole, tally(&[(b"ab", b"c")]));
    assert_ne!(whole, tally(&[(b"a", b"bc"), (b"d", b"")]));
    assert_ne!(whole, tally(&[(b"d", b""), (b"ab", b"c")]));
}
