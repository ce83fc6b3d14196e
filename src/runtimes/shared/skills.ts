import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { TurnRequest } from '../../model/turn-request.ts';
import { parseYaml } from '../../text/yaml-file.ts';
import { refuse, type Refusal } from './cli-adapter.ts';

/** A skill of a turn, with what its SKILL.md says of it. */
export interface Skill {
  readonly name: string;
  readonly folder: string;
  readonly description: string;
  /** The names of all that the front matter sets. */
  readonly keys: readonly string[];
}

const FRONT = /^\uFEFF?---[ \t]*\r?\n([^]*?)^---[ \t]*$/m;
const aboutSchema = z.looseObject({ description: z.string() });

/** A file that cannot be read counts as empty: preflight has checked them, and copies that are bound to a run do not change. */
export function readSkills(skills: TurnRequest['skills'] = []): Promise<Skill[]> {
  return Promise.all(
    skills.map(async (skill) => {
      const text = await readFile(join(skill.folder, 'SKILL.md'), 'utf8').catch(() => '');
      const about = parseYaml(
        { file: 'SKILL.md', text: FRONT.exec(text)?.[1] ?? '', firstLine: 2, examples: {} },
        aboutSchema,
      );
      const said = about.ok ? about.value : { description: '' };
      return { ...skill, description: said.description, keys: Object.keys(said) };
    }),
  );
}

/** Keys of a front matter by which a program would widen the rights of an agent, or run a command. */
const RIGHTS = ['allowed-tools', 'hooks'];

/** A refusal of a skill that takes rights by itself; undefined: there is none. For programs that read front matter. */
export function refuseRights(runtime: string, skills: readonly Skill[]): Refusal | undefined {
  for (const { name, keys } of skills) {
    const key = keys.find((one) => RIGHTS.includes(one));
    if (key === undefined) continue;
    const message = `the SKILL.md of ${name} sets ${key}, and ${runtime} would take rights from there; say it in squad.yaml`;
    return refuse('setting-unsupported', 'skills', message);
  }
  return undefined;
}
