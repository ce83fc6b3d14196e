// A build plugin: parts of Node and of V8 that a command line loads when it uses them. Node's own modules come without the wrapper that
// `import` makes of them: it reads every export, and with that loads more, such as streams for a standard input that nobody reads.

/** They load much of Node with them, and many commands call none of their functions. */
const ON_CALL: ReadonlySet<string> = new Set(['node:child_process', 'node:fs/promises']);

export function lazyBuiltins() {
  return {
    name: 'lazy-builtins',
    renderChunk(code: string): string {
      const plain = code.replaceAll(/^import ([^"']+) from "(node:[\w/]+)";$/gm, (_, names: string, module: string) =>
        constantsFor(names, module),
      );
      return plain.replaceAll(OF_SCRIPTS, (_, name: string, made: string, at: number) => onUse(plain, name, made, at));
    },
  };
}

/** To make one reads what is known of all scripts, and most of what a command prints is plain letters. */
const OF_SCRIPTS = /^const ([\w$]+) = (new Intl\.Segmenter\(.*\)|\/.*\\p\{RGI_Emoji\}.*\/v);$/gm;

function onUse(code: string, name: string, made: string, at: number): string {
  const uses = [...code.matchAll(new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}(?![\\w$])(\\.\\w+\\()?`, 'g'))];
  const calls = new Set(uses.flatMap(({ index, 1: call }) => (index === at + 'const '.length ? [] : [call])));
  const parts = [...calls].map((call) => {
    if (call === undefined) throw new Error(`${name} is used in a way that is not known here`);
    const method = call.slice(1, -1);
    return `${method}: (text) => (${name}$made ??= ${made}).${method}(text)`;
  });
  return `let ${name}$made; const ${name} = { ${parts.join(', ')} };`;
}

function constantsFor(names: string, module: string): string {
  const builtin = `process.getBuiltinModule("${module}")`;
  const [, whole, , some = ''] = /^(?:\* as )?([\w$]+)?(,\s*)?(\{[^}]*\})?$/.exec(names) ?? [];
  const parts = [...some.matchAll(/([\w$]+)(?: as ([\w$]+))?/g)].map(([, name = '', own = name]) => ({ name, own }));
  if (whole === undefined && parts.length === 0) throw new Error(`import ${names} is of a kind that is not known here`);
  if (ON_CALL.has(module)) {
    const called = parts.map(({ name, own }) =>
      name === 'constants'
        ? `const { constants: ${own} } = process.getBuiltinModule("node:fs");`
        : `const ${own} = (...given) => ${builtin}.${name}(...given);`,
    );
    const proxy = `const ${whole} = new Proxy({}, { get: (_, name) => ${builtin}[name] });`;
    return [...(whole === undefined ? [] : [proxy]), ...called].join(' ');
  }
  const picked = `{ ${parts.map(({ name, own }) => (name === own ? name : `${name}: ${own}`)).join(', ')} }`;
  return [whole, ...(parts.length === 0 ? [] : [picked])]
    .flatMap((of) => of ?? [])
    .map((of) => `const ${of} = ${builtin};`)
    .join(' ');
}
