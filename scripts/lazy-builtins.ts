// A build plugin: Node's own modules without the wrapper that `import` makes of them. The wrapper reads every export, and with that
// loads parts of Node that no command needs, such as streams for a standard input that nobody reads.

/** They load much of Node with them, and many commands call none of their functions. */
const ON_CALL: ReadonlySet<string> = new Set(['node:child_process', 'node:fs/promises']);

export function lazyBuiltins() {
  return {
    name: 'lazy-builtins',
    renderChunk(code: string): string {
      return code.replaceAll(/^import ([^"']+) from "(node:[\w/]+)";$/gm, (_, names: string, module: string) =>
        constantsFor(names, module),
      );
    },
  };
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
