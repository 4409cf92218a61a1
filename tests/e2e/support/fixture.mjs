// What a test borrows is given back when it ends, last borrowed first.
export function borrow(t) {
  const owned = [];
  t.after(async () => {
    for (const release of owned.reverse()) await release();
  });
  return async (starting, release = (thing) => thing.stop()) => {
    const thing = await starting;
    owned.push(() => release(thing));
    return thing;
  };
}
