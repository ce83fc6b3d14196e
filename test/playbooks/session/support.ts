import { createView } from '../../../src/rules/view.ts';
import { limitsSchema } from '../../../src/model/limits.ts';
import type { Member } from '../../../src/model/plan/board.ts';
import type { View } from '../../../src/model/plan.ts';
import { createSessionPlaybook } from '../../../src/playbooks/session/index.ts';
import { safeSlugs } from '../../../src/playbooks/session/session-of.ts';
import type { Session } from '../../../src/playbooks/session/session.ts';
import { plainJson } from '../../../src/text/json.ts';
import { fullAnswer, type SessionAbout } from '../../support/session-folder.ts';
import { factsOf, member, simulate, type Played, type Script } from '../simulator.ts';

/** The session that a folder of this description holds. */
export function sessionFrom({ roles, tasks, done = [] }: SessionAbout): Session {
  const roleSlugs = new Map(zip(roles.map(({ name }) => name)));
  const taskSlugs = new Map(zip(tasks.map(({ id }) => id)));
  const roleSlug = (name: string): string => roleSlugs.get(name) ?? name;
  const slugs = (ids: readonly string[]): string[] => ids.map((id) => taskSlugs.get(id) ?? id);
  return {
    ...{ id: 'TC-make-things-2026-02-27', team: 'make-things', description: 'Make things', status: 'active' },
    roles: roles.map(({ name, responsibility = null, inner_loop = false }) => ({
      ...{ name, slug: roleSlug(name), prefix: name.toUpperCase(), responsibility, innerLoop: inner_loop },
      ...{ file: `roles/${name}.md`, text: `# Role: ${name}\n\n## Identity\n\n## Boundaries\n\n## Execution\n` },
    })),
    tasks: tasks.map(({ id, role, needs = [], subject = `Do ${id}` }) => ({
      ...{ id, slug: taskSlugs.get(id) ?? id, subject, role: roleSlug(role), needs: slugs(needs) },
    })),
    completed: slugs(done),
    start: {
      ...{ state: '{}', memory: {}, wisdom: { learnings: '', decisions: '', issues: '' } },
      ...{ explorations: { index: null, files: [] }, artifacts: [], discussions: [], hashes: {} },
    },
  };
}

function zip(texts: readonly string[]): [string, string][] {
  const slugs = safeSlugs(texts);
  return texts.map((text, index) => [text, slugs[index] ?? text]);
}

/** One member for each role, as the cast has it. */
export function castFor({ roles }: Session): Member[] {
  return roles.map(({ slug, responsibility }) => member(slug, slug, { commits: responsibility !== 'read-only' }));
}

interface Playing {
  readonly roster?: readonly Member[];
  readonly script?: Script;
  readonly parallel?: number;
  /** What the whole has to pass at the end. */
  readonly commands?: readonly string[];
}

/** Plays it on the pure decisions. */
export function playSession(
  session: Session,
  { roster = castFor(session), script = {}, parallel = 4, commands = [] }: Playing = {},
): Played {
  const playbook = createSessionPlaybook(session);
  const from = {
    run: 'try',
    section: undefined,
    limits: limitsSchema.parse({}),
    publish: undefined,
    roles: [],
    objective: { criteria: [] },
  };
  const criteria = commands.map((command) => ({ text: command, command }));
  const objective = { ...factsOf(roster).objective, criteria };
  const facts = factsOf(roster, { objective, options: playbook.options?.(from) ?? {}, verifies: false });
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const turn: Script['turn'] = (one, board) => ({
    output: plainJson(fullAnswer(one.task)),
    ...script.turn?.(one, board),
  });
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { ...script, turn }, parallel });
}

export function viewOf({ board }: Pick<Played, 'board'>): View {
  return createView(board);
}
