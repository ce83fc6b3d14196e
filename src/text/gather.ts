/** Everything that a bounded series yields. */
export async function gather<T>(series: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of series) all.push(one);
  return all;
}
