/** What a profile of Seatbelt says, for the words that squad's profiles use. No Mac is needed, and none has judged this. */

type Node = string | readonly Node[];

function parse(text: string): readonly Node[] {
  const tokens = text.match(/#?"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+/g) ?? [];
  const read = (from: number): [readonly Node[], number] => {
    const nodes: Node[] = [];
    let next = from;
    while (next < tokens.length && tokens[next] !== ')') {
      if (tokens[next] === '(') {
        const [inner, end] = read(next + 1);
        if (tokens[end] !== ')') throw new Error('a bracket is open');
        nodes.push(inner);
        next = end + 1;
      } else nodes.push(tokens[next++] ?? '');
    }
    return [nodes, next];
  };
  const [nodes, end] = read(0);
  if (end !== tokens.length) throw new Error('a bracket is closed too early');
  return nodes;
}

interface Target {
  readonly path: string;
  readonly kind?: string;
}

export interface Profile {
  readonly text: string;
  readonly paths: readonly string[];
}

/** Whether the profile allows this: the last rule that fits decides. A word that is not known here is an error. */
export function seatbeltAllows({ text, paths }: Profile, operation: string, target: Target): boolean {
  let isAllowed = false;
  for (const rule of parse(text)) {
    if (typeof rule === 'string') throw new Error(`no rule: ${rule}`);
    const [verb, ...words] = rule;
    if (verb === 'version') continue;
    if (verb !== 'allow' && verb !== 'deny') throw new Error(`no verb: ${String(verb)}`);
    const operations = words.filter((word): word is string => typeof word === 'string');
    const filters = words.filter((word): word is readonly Node[] => typeof word !== 'string');
    const isMeant = operations.some((one) => fits(one, operation));
    if (isMeant && (filters.length === 0 || filters.some((one) => matches(one, target, paths)))) {
      isAllowed = verb === 'allow';
    }
  }
  return isAllowed;
}

function fits(rule: string, operation: string): boolean {
  return rule === 'default' || rule === operation || (rule.endsWith('*') && operation.startsWith(rule.slice(0, -1)));
}

function matches([name, ...words]: readonly Node[], target: Target, paths: readonly string[]): boolean {
  const [word = ''] = words;
  switch (name) {
    case 'require-all':
      return words.every((one) => typeof one !== 'string' && matches(one, target, paths));
    case 'subpath':
      return `${target.path}/`.startsWith(`${textOf(word, paths)}/`);
    case 'literal':
      return target.path === textOf(word, paths);
    case 'vnode-type':
      return target.kind === word;
    case 'regex':
      return new RegExp(String(word).slice(2, -1)).test(target.path);
    case 'extension':
    case 'target':
      return false;
    default:
      throw new Error(`no filter: ${String(name)}`);
  }
}

function textOf(word: Node, paths: readonly string[]): string {
  if (typeof word === 'string') return word.slice(1, -1);
  const path = paths[Number(/^"P(\d+)"$/.exec(String(word[1]))?.[1])];
  if (path === undefined) throw new Error(`no such path: ${JSON.stringify(word)}`);
  return path;
}
