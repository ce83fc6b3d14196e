import { LATE_FINDINGS, type Finding } from '../model/plan/review.ts';
import { lookText, type Look } from '../model/plan/look.ts';

// With what work goes back to its author or reviewer.

type Said = 'approved' | 'rejected' | 'overruled';

function placeOf({ file, line }: Finding): string {
  return file === null ? '' : `${file}${line === null ? '' : `:${line}`}`;
}

/** Without its full stop. */
function sentence(text: string): string {
  return text.trim().replace(/[.。]+$/, '');
}

export const FEEDBACK = {
  conflict: (commit: string, head: string, files: string) =>
    `Your commit ${commit} conflicts with ${head} in:\n${files}`,
  ranOn: (candidate: string) => `This ran on ${candidate}, which has your work and what was delivered before.`,
  said: (said: Said, look: Look | undefined) => {
    if (said === 'approved') return `approved${lookText(look)}`;
    return said === 'overruled' ? `rejected, overruled: ${LATE_FINDINGS}` : 'rejected';
  },
  verdict: (role: string, agent: string, said: string, summary: string) => `${role} (${agent}): ${said}. ${summary}`,
  notConverging: 'not converging: the same findings as in the round before',
  stops: (why: string) => `${why}, so the work stops`,
  noFinding: 'a rejection needs at least one finding that says what to change',
  finding: (one: Finding) => {
    const place = placeOf(one);
    const right = one.right.trim() === '' ? '' : `. Instead: ${sentence(one.right)}`;
    const proof = one.proof.trim() === '' ? '' : `. Proof: ${sentence(one.proof)}`;
    return `${place === '' ? '' : `${place}: `}${sentence(one.wrong)}${right}${proof}`;
  },
  approvesBlock: (findings: readonly string[]) =>
    [
      'you approve, and this blocks: reject, or settle it as fixed, or make it a remark (`blocks`: null):',
      ...findings.map((one) => `- ${one}`),
    ].join('\n'),
  nothingBlocks: (isLater: boolean) =>
    `you reject, and nothing blocks: approve, or give a finding that blocks${isLater ? '; after a rejection these are `criterion`, `not-fixed` and `new-harm`' : ''}`,
  unsettled: (labels: string) => `\`settled\` says nothing of ${labels}: each is fixed, not-fixed or withdrawn`,
  unshown: (number: number, why: string) => `finding ${number} cannot block: ${why}`,
  isRemark: (why: string) => `its reviewer says that it blocks, but ${why}`,
  noProof: '`proof` is empty: it needs the input or command that shows it',
  noFile: (file: string) =>
    `the commit has no file ${file}: \`file\` is a path from the top of the repository, or null`,
  noLine: (file: string, line: number, lines: number) => `${file} has ${lines} lines, and no line ${line}`,
  outside: (file: string) =>
    `the work does not change ${file}: \`proof\` needs the input or command, in backticks, that fails because of the work`,
  noLabel: (number: number, labels: string) =>
    `finding ${number} names no criterion: \`criterion\` is one of ${labels}`,
  noCategory: (names: string) => `a rejection names its \`category\`, one of ${names}`,
  blocked: (category: string, inputs: readonly string[], next: string | null) =>
    [
      `blocked by its review: ${category}`,
      ...(inputs.length === 0 ? [] : [`required inputs: ${inputs.join('; ')}`]),
      ...(next === null ? [] : [`recommended next step: ${next}`]),
    ].join('\n'),
  unspoken: (paths: string) =>
    `\`checks\` says nothing of ${paths}: an approval needs a word on each changed path that is protected`,
  refused: (paths: string) =>
    `you approve, and do not accept the change of ${paths}: reject it with a finding, or accept it in \`checks\``,
  noEvidence: '`evidence` is null: name the command that shows it, or quote the file that does',
  halfCommand: '`evidence` needs the command that you ran and what it printed; its exit code if it printed nothing',
  shortQuote: '`evidence.quote` is too short to show anything: quote the whole line',
  noQuotedFile: (file: string) =>
    `the judged commit has no file ${file}: \`evidence.file\` is a path from the root of the repository`,
  noQuote: (file: string, quote: string) =>
    `${file} of the judged commit does not have the quote “${quote}”: copy it word for word`,
  notRun: (command: string) => `you have not run \`${command}\`: run it, or quote a file`,
  unmet: (by: string, why: string) => `${by} says that it is met, but ${why}`,
  afterFirst: (first: string, why: string) => `${first}\nafter that: ${why}`,
  personAsks: (before: string | undefined) =>
    `a person asked for another try${before === undefined ? '' : `: ${before}`}`,
};
