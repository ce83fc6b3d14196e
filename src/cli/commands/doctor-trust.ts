import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';
import { compose } from '../../engine/compose.ts';
import { programsHere, type ProgramHere, type ProgramsHere } from '../../squad/preflight/programs-here.ts';
import { readSettings } from '../../squad/preflight/read-settings.ts';
import { openCheckout } from '../../substrate/git/repository.ts';
import { plainLine } from '../../text/plain-text.ts';

const CONFINEMENT: Readonly<Record<ProgramHere['confinement'], string>> = {
  sandbox: 'sandbox',
  cage: 'cage',
  rules: 'rules only',
  settings: 'how squad calls it',
  none: 'nothing of squad’s',
};
const CONSENT: Readonly<Record<ProgramHere['consent'], string>> = {
  stored: 'you agreed',
  missing: 'squad will ask you',
  own: 'your own setting',
  'not needed': '',
};

/** Each program that squad would start in this repository, what confines it, and whether there is consent. Exit 0. */
export async function doctorTrust({ host, output, exit }: CommandContext, options: JsonOptions): Promise<void> {
  const composition = compose(host);
  const repository = await openCheckout(composition.git, host.workingDirectory);
  const read = await readSettings(repository.root, composition, host);
  const found = await programsHere({ composition, host, repository, read });
  printResult(output, options, { type: 'doctor-trust', ...found }, renderPrograms(found));
  exit(0);
}

/** Three lines a program. Texts of settings are untrusted. Pure. */
export function renderPrograms({ repository, consent, programs }: ProgramsHere): string[] {
  const said = {
    stored: 'You have agreed to what its settings run and open. Commands of an objective are asked for besides.',
    missing: 'Its settings run or open something that you have not agreed to: squad asks before it starts any of it.',
    own: '',
    'not needed': 'Its settings run nothing that needs your consent. Commands of an objective are asked for.',
  }[consent];
  return [
    `Programs that squad would start in ${plainLine(repository, 300)}`,
    said,
    ...programs.flatMap(({ kind, run, path, when, from, reads, confinement, confinedBy, consent: agreed }) => {
      const source = [from ?? '', CONSENT[agreed]].filter((text) => text !== '').join(', ');
      return [
        '',
        `${kind}  ${plainLine(run, 200)}${path === null || path === run ? '' : `  ${plainLine(path, 300)}`}${source === '' ? '' : `  (${plainLine(source, 300)})`}`,
        `    when         ${plainLine(when, 300)}`,
        `    reads        ${plainLine(reads, 300)}`,
        `    confined by  ${CONFINEMENT[confinement]}: ${plainLine(confinedBy, 300)}`,
      ];
    }),
  ];
}
