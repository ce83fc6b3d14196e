/** A target of a Makefile, or a recipe of a justfile. */
export interface Recipe {
  /** All lines of it and of what it needs, as they are written, with the variables of the file if it uses any. */
  readonly text: string;
  /** Lines for a shell. */
  readonly commands: readonly string[];
}

interface Rule {
  readonly needs: readonly string[];
  readonly lines: readonly string[];
  readonly text: string;
}

const HEADER = /^(@?[^\s#:=][^:=#]*?)\s*(::?)(?!=)(.*)$/;
const ASSIGNMENT = /^(?:export\s+|override\s+)*([\w.-]+)\s*(?:[:?+!]*)=\s*(.*)$/;
/** Only its program knows what these make of the file. */
const COMPLEX = /^(?:-?s?include|define|ifn?eq|ifn?def|import|mod)\b/m;

/** undefined: the file is not so simple that its lines say what the target is, or it does not have it. `target`: absent, the first one. */
export function recipeOf(source: string, target: string | undefined): Recipe | undefined {
  const text = source.replaceAll(/\\\r?\n[ \t]*/g, ' ');
  if (COMPLEX.test(text)) return undefined;
  const { rules, variables } = rulesIn(text);
  const first = [...rules.keys()].find((name) => !name.startsWith('.') && !name.includes('%'));
  const wanted = target ?? first;
  if (wanted === undefined || !rules.has(wanted)) return undefined;
  const parts = closureOf(rules, wanted);
  const own = parts.map((rule) => rule.text).join('\n');
  const uses = /\$[({]\w|\{\{/.test(own);
  return {
    text: uses ? `${own}\n${[...variables].map(([name, value]) => `${name}=${value}`).join('\n')}` : own,
    commands: parts.flatMap(({ lines }) => lines.map((line) => commandOf(line, variables))),
  };
}

function rulesIn(text: string): { rules: Map<string, Rule>; variables: Map<string, string> } {
  const rules = new Map<string, Rule>();
  const variables = new Map<string, string>();
  let names: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (/^[ \t]+\S/.test(line)) {
      for (const name of names) add(rules, name, { needs: [], lines: [line.trim()], text: line.trim() });
      continue;
    }
    const assigned = ASSIGNMENT.exec(line);
    if (assigned !== null) variables.set(assigned[1] ?? '', assigned[2] ?? '');
    const header = assigned === null ? HEADER.exec(line) : null;
    if (header === null) {
      if (line.trim() !== '' && !line.startsWith('#')) names = [];
      continue;
    }
    // A recipe of a justfile has its parameters behind its name.
    names = (header[1] ?? '').replace(/^@/, '').split(/\s+/);
    const [needs = '', inline = ''] = (header[3] ?? '').replace(/#.*$/, '').split(/;(.*)/s);
    const lines = inline.trim() === '' ? [] : [inline.trim()];
    for (const name of names)
      add(rules, name, { needs: needs.split(/[\s|&]+/).filter((word) => word !== ''), lines, text: line });
  }
  return { rules, variables };
}

function add(rules: Map<string, Rule>, name: string, more: Rule): void {
  const before = rules.get(name);
  rules.set(
    name,
    before === undefined
      ? more
      : {
          needs: [...before.needs, ...more.needs],
          lines: [...before.lines, ...more.lines],
          text: `${before.text}\n${more.text}`,
        },
  );
}

function closureOf(rules: ReadonlyMap<string, Rule>, target: string): Rule[] {
  const seen = new Set([target]);
  for (const name of seen) for (const need of rules.get(name)?.needs ?? []) seen.add(need);
  return [...seen].flatMap((name) => rules.get(name) ?? []);
}

function commandOf(line: string, variables: ReadonlyMap<string, string>): string {
  const filled = line.replaceAll(
    /\$[({]([\w.-]+)[)}]|\{\{\s*([\w-]+)\s*\}\}/g,
    (whole, one?: string, other?: string) => {
      const name = one ?? other ?? '';
      return name === 'MAKE' ? 'make' : (variables.get(name) ?? whole);
    },
  );
  return filled.replace(/^[@+-]+\s*/, '').replaceAll('$$', '$');
}
