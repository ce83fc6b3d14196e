import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server on loopback that can be cut: as a network that lets nothing through, and says nothing. */
export interface PoolProxy {
  readonly port: number;
  cut(): void;
  heal(): void;
  close(): Promise<void>;
}

export async function openProxy(to: number): Promise<PoolProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((from) => {
    keep(from);
    // It hears nothing, and waits.
    if (isCut) return;
    const onward = keep(connect(to, '127.0.0.1'));
    from.on('data', (data) => (isCut ? undefined : onward.write(data)));
    onward.on('data', (data) => (isCut ? undefined : from.write(data)));
    from.on('close', () => onward.destroy());
    onward.on('close', () => from.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
    },
    // What was lost in between would leave half a message: those connections end.
    heal: () => {
      isCut = false;
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
