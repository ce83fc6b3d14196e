import { describe, expect, it } from 'vitest';
import { namesPort, withPort } from '../../src/text/port-place.ts';

describe('the place of a port in a command', () => {
  it.each([
    ['vite --port {port}', 'vite --port 20007'],
    ['PORT={port} npm test -- --url=http://localhost:{port}/', 'PORT=20007 npm test -- --url=http://localhost:20007/'],
    ['{port}{port}', '2000720007'],
    ['echo ${port}', 'echo ${port}'],
    ['echo {{port}} {{port}', 'echo {{port}} {{port}'],
    ["echo $'{port} {Port} { port }", "echo $'20007 {Port} { port }"],
    ['docker ps --format "{{ .Ports }}"', 'docker ps --format "{{ .Ports }}"'],
  ])('%s', (command, filled) => {
    expect(withPort(command, 20_007)).toBe(filled);
    expect(namesPort(command)).toBe(filled !== command);
  });

  it('is also the variable', () => {
    expect(namesPort('curl "localhost:$SQUAD_PORT"')).toBe(true);
  });
});
