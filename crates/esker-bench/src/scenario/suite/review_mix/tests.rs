//! Tests of recombined reviews.

use std::collections::BTreeSet;

use super::*;

fn review(product: &str, user: &str, text: &str) -> Pair {
    let key = format!("{product}/{user}/100");
    let value = format!(
        "product/productId: {product}\nproduct/title: Of {product}\nreview/userId: {user}\n\
         review/score: 4.0\nreview/time: 100\nreview/text: {text}"
    );
    (key.into_bytes(), value.into_bytes())
}

fn shown(pair: Pair) -> (String, String) {
    (
        String::from_utf8(pair.0).unwrap(),
        String::from_utf8(pair.1).unwrap(),
    )
}

#[test]
fn two_reviews_of_a_kind_become_two_others() {
    // Each front half meets the other back half; a third of another kind finds nobody.
    let mut mix = Mix::new(vec![
        review("B0001", "A11", "It is good. I like it."),
        review("tt0002", "A33", "A film. Nothing else."),
        review("B0002", "A22", "It is bad. I hate it."),
    ]);
    let first = shown(mix.next_review().unwrap());
    assert!(
        first.1.ends_with("review/text: It is good. I hate it."),
        "{}",
        first.1
    );
    let second = shown(mix.next_review().unwrap());
    assert!(
        second.1.ends_with("review/text: It is bad. I like it."),
        "{}",
        second.1
    );
    assert_eq!(mix.next_review(), None);
    // Product and title are the one's, the rest the other's; key and fields agree.
    let (product, user) = first.0.split_once('/').unwrap();
    let user = user.split_once('/').unwrap().0;
    assert!(first.1.starts_with(&format!(
        "product/productId: {product}\nproduct/title: Of B0001\nreview/userId: {user}\n"
    )));
    assert!(product.starts_with("B0") && product.len() == 5 && product != "B0001");
}

#[test]
fn every_review_meets_every_other_once() {
    // Seven of them: six rounds of seven, all keys and all texts different.
    let all = (0..7).map(|place| {
        let text = format!("Front {place}. Back {place}.");
        review(&format!("B00{place}"), &format!("A{place}00"), &text)
    });
    let mut mix = Mix::new(all.collect());
    let mut texts = BTreeSet::new();
    let mut count = 0;
    while let Some(pair) = mix.next_review() {
        let value = shown(pair).1;
        let text = value.split_once("review/text:").unwrap().1.to_owned();
        let halves = text.split_once(". ").unwrap();
        assert_ne!(halves.0.split_once("Front ").unwrap().1, &halves.1[5..6]);
        texts.insert(text);
        count += 1;
    }
    assert_eq!((count, texts.len()), (42, 42));
}

#[test]
fn a_text_that_cannot_be_cut_and_copies_are_left_out() {
    // One word, no text at all, and two reviews that say the same.
    let mut mix = Mix::new(vec![
        review("B0001", "A11", "Good"),
        (
            b"B0002/A22/1".to_vec(),
            b"product/productId: B0002".to_vec(),
        ),
        review("B0003", "A33", "It is good. I like it."),
        review("B0004", "A44", "It is good. I like it."),
    ]);
    assert_eq!(mix.next_review(), None);
}

#[test]
fn names_of_one_round_stay_apart() {
    // A hundred identifiers: as many others, of the same shape.
    let names: BTreeSet<Vec<u8>> = (0..100)
        .map(|place| renamed(format!("B00X{place:02}ab").as_bytes(), 3))
        .collect();
    assert_eq!(names.len(), 100);
    for name in names {
        assert!(name.starts_with(b"B0") && name.ends_with(b"ab") && name[3].is_ascii_uppercase());
    }
}
