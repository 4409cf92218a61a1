// What a test borrows is given back when it ends, last borrowed first, also where giving back one thing fails.
export function borrow(t) {
  const owned = [];
  t.after(async () => {
    const ends = [];
    for (const release of owned.reverse()) ends.push(await Promise.allSettled([release()]));
    const failed = ends.flat().find(({ status }) => status === "rejected");
    if (failed) throw failed.reason;
  });
  return async (starting, release = (thing) => thing.stop()) => {
    const thing = await starting;
    owned.push(async () => release(thing));
    return thing;
  };
}
