import { plainLine } from '../../text/plain-text.ts';

export interface DoctorCheck {
  readonly name: string;
  readonly ok: boolean;
  /** What was found, in a few words. */
  readonly found: string;
  readonly problems: readonly { readonly text: string; readonly next: string }[];
}

/** One line a check, and under it what is wrong and what to do. */
export function renderDoctor(checks: readonly DoctorCheck[]): string {
  const width = Math.max(...checks.map((check) => check.name.length));
  return checks
    .flatMap((check) => [
      `${check.ok ? 'ok  ' : 'FIX '}  ${check.name.padEnd(width)}  ${plainLine(check.found, 160)}`,
      ...check.problems.flatMap((problem) => [
        `      ${plainLine(problem.text, 400)}`,
        `      → ${plainLine(problem.next, 400)}`,
      ]),
    ])
    .join('\n');
}
