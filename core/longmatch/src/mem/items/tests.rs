use super::*;

#[test]
fn frozen_arrays_are_slices() {
    let mut array = Frozen::of(&[1u16, 2, 3]).unwrap();
    array[1] = 9;
    assert_eq!((array[..].to_vec(), array.count()), (alloc::vec![1, 9, 3], 3));
    // SAFETY: the array has an item 1.
    assert_eq!(unsafe { array.items().load(1) }, 9);
    assert_eq!((array.clone(), Frozen::of(&[0u32; 0]).unwrap().len()), (array, 0));
    assert!(Frozen::<u128>::zeroed(usize::MAX / 4).is_err());
}

#[test]
fn items_are_published_by_the_owner() {
    let (live, mut owner) = Live::with_capacity(&[1u16, 2, 3], 6).unwrap();
    assert_eq!((live.count(), owner.capacity(), &owner[..]), (3, 6, &[1, 2, 3][..]));
    owner.publish(1, 7);
    assert_eq!((owner.extend(2), owner.extend(2)), (Some(3), None));
    // SAFETY: no reader loads these items meanwhile.
    unsafe { owner.write(3, &[8, 9]) };
    assert_eq!((live.count(), &owner[..]), (5, &[1, 7, 3, 8, 9][..]));
    for (i, item) in owner.iter().enumerate() {
        // SAFETY: `i` is an index of the array.
        let loaded = unsafe { live.items().load(i) };
        // SAFETY: the same.
        let read = unsafe { live.items().read(i) };
        assert_eq!((loaded, read), (*item, *item));
    }
}

#[test]
fn words_inside_of_items_are_published() {
    let (live, mut owner) = Live::with_capacity(&[0u128; 3], 3).unwrap();
    owner.publish_inside(1, 8, 5u32);
    // SAFETY: byte 8 of item 1 is an aligned word.
    assert_eq!(unsafe { live.items().load_word(1, 8) }, 5);
    let bytes = owner[1].to_ne_bytes();
    assert_eq!((bytes[8..12].to_vec(), owner[0], owner[2]), (5u32.to_ne_bytes().to_vec(), 0, 0));
}

#[test]
#[should_panic(expected = "item 3 of 3")]
fn items_outside_are_not_published() {
    let (_live, mut owner) = Live::with_capacity(&[0u32; 3], 0).unwrap();
    owner.publish(3, 1);
}

#[test]
#[should_panic(expected = "items at 2 of 3")]
fn items_outside_are_not_written() {
    let (_live, mut owner) = Live::with_capacity(&[0u32; 3], 0).unwrap();
    // SAFETY: the array has no readers.
    unsafe { owner.write(2, &[1, 1]) };
}
