/** A second judge's name and verdict, on a line of its own. */
const ANOTHER = /\n\S+ \([^)\n]*\): (?:approved|rejected|no verdict)/;

/** The feedback of a round for a view that has its verdict: the only judge is named once, and the verdict is not said again. */
export function judgeWords(feedback: string): string {
  // A judge that is called as its role.
  const named = feedback.replace(/^(\S+) \(\1\): /, '$1: ');
  return ANOTHER.test(feedback)
    ? named
    : named.replace(/^(\S+(?: \([^)\n]*\))?: )(?:approved|rejected)\. (?=\S)/, '$1');
}
