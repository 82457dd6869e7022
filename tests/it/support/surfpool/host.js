// Hosts a local Solana node with a payer, two tokens and a control port for a test. Usage: `node host.js MODULES`.
// Prints one line of JSON: url, control, mints.
'use strict';
const http = require('node:http');
const path = require('node:path');
const { createHash } = require('node:crypto');

const [, , modules] = process.argv;
const load = (name) => require(path.join(modules, name));
console.warn = () => {};
const { Surfnet } = load('@solana/surfpool-linux-x64-gnu');
const web3 = load('@solana/web3.js');
const spl = load('@solana/spl-token');

// A block is made for each transaction only, and the clock advances by slots. A slot is so long that the clock is ahead
// of the real time even on a slow machine.
const net = Surfnet.startWithConfig({
  offline: true, blockProductionMode: 'transaction', slotTimeMs: 400, airdropSol: 10_000e9,
});
const payer = web3.Keypair.fromSecretKey(Uint8Array.from(net.payerSecretKey));
const seeded = (name) => web3.Keypair.fromSeed(createHash('sha256').update(name).digest());
const owner = (at) => seeded(`pool ${at}`);
const PROGRAMS = { classic: spl.TOKEN_PROGRAM_ID, token2022: spl.TOKEN_2022_PROGRAM_ID };
const TOKENS = {
  'USDC-SPL': { mint: seeded('usdc').publicKey, program: PROGRAMS.classic },
  'USDT-SPL': { mint: seeded('usdt').publicKey, program: PROGRAMS.classic },
  // Tokens that are not listed: another mint of the same program, and a mint of the other program.
  other: { mint: seeded('other').publicKey, program: PROGRAMS.classic },
  token2022: { mint: seeded('token2022').publicKey, program: PROGRAMS.token2022 },
};
const KEYS = { 'USDC-SPL': 'usdc', 'USDT-SPL': 'usdt', other: 'other', token2022: 'token2022' };
const KEY = (text) => new web3.PublicKey(text);
const account = (token, who) => {
  const { mint, program } = TOKENS[token];
  return spl.getAssociatedTokenAddressSync(mint, who, true, program);
};

const kept = new http.Agent({ keepAlive: true });

/** Sends a request to the node and returns its answer. It costs a fraction of what `fetch` costs. */
function post(body) {
  return new Promise((done, failed) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = http.request(net.rpcUrl, { method: 'POST', headers, agent: kept }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part)).on('error', failed);
      response.on('end', () => done(Buffer.concat(parts)));
    });
    request.on('error', failed).end(body);
  });
}

let calls = 0;
async function call(method, ...params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: calls++, method, params });
  const answer = JSON.parse(await post(body));
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

const rest = () => new Promise((done) => { setTimeout(done, 5); });

/** Waits until the condition holds. */
async function until(what, isSo) {
  for (let looks = 0; looks < 10_000; looks += 1) {
    if (await isSo()) return;
    await rest();
  }
  throw new Error(`never: ${what}`);
}

/** Sends a transaction and waits for its block. */
async function send(instructions, signers) {
  const { value } = await call('getLatestBlockhash', { commitment: 'confirmed' });
  const tx = new web3.Transaction({
    feePayer: signers[0].publicKey, recentBlockhash: value.blockhash,
  });
  tx.add(...instructions).sign(...signers);
  const raw = tx.serialize().toString('base64');
  const sent = { encoding: 'base64', skipPreflight: true };
  const signature = await call('sendTransaction', raw, sent);
  await until('a transaction in a block', async () => {
    const known = await call('getTransaction', signature, { commitment: 'confirmed' });
    return known && await ACTS.slot() >= known.slot;
  });
  return signature;
}

/** Returns the instructions of one step and its additional signers. */
function step([what, ...args], from) {
  const payerKey = from.publicKey;
  switch (what) {
    case 'sol': {
      const [to, lamports] = args;
      const pay = { fromPubkey: payerKey, toPubkey: KEY(to), lamports: BigInt(lamports) };
      return [[web3.SystemProgram.transfer(pay)], []];
    }
    case 'make': {
      const [token, to] = args;
      const { mint, program } = TOKENS[token];
      const whose = KEY(to);
      return [[spl.createAssociatedTokenAccountIdempotentInstruction(
        payerKey, account(token, whose), whose, mint, program,
      )], []];
    }
    case 'token': {
      const [token, to, units] = args;
      const { mint, program } = TOKENS[token];
      return [[spl.createTransferCheckedInstruction(
        account(token, payerKey), mint, account(token, KEY(to)), payerKey, BigInt(units), 6, [], program,
      )], []];
    }
    case 'close': {
      const [token, rentTo] = args;
      const { program } = TOKENS[token];
      return [[spl.createCloseAccountInstruction(
        account(token, payerKey), KEY(rentTo), payerKey, [], program,
      )], []];
    }
    // The token program transfers lamports, which no instruction of the transaction does directly.
    case 'by program': {
      const [to, lamports] = args;
      const held = web3.Keypair.generate();
      const make = {
        fromPubkey: payerKey, newAccountPubkey: held.publicKey, space: 165, lamports,
        programId: PROGRAMS.classic,
      };
      return [[
        web3.SystemProgram.createAccount(make),
        spl.createInitializeAccountInstruction(held.publicKey, spl.NATIVE_MINT, payerKey),
        spl.createCloseAccountInstruction(held.publicKey, KEY(to), payerKey),
      ], [held]];
    }
    case 'fail': {
      const pay = { fromPubkey: payerKey, toPubkey: payer.publicKey, lamports: 1n << 62n };
      return [[web3.SystemProgram.transfer(pay)], []];
    }
    default: throw new Error(`no step ${what}`);
  }
}

/** Returns the balance changes of these owners in a transaction, from its parsed form. */
async function credits(signature, whose) {
  const tx = await call('getTransaction', signature, {
    encoding: 'jsonParsed', commitment: 'confirmed', maxSupportedTransactionVersion: 0,
  });
  if (tx.meta.err) return [];
  const keys = tx.transaction.message.accountKeys;
  const found = [];
  for (const one of whose) {
    if (keys.some((key) => key.signer && key.pubkey === one)) continue;
    const at = keys.findIndex((key) => key.pubkey === one);
    const gained = at < 0 ? 0 : tx.meta.postBalances[at] - tx.meta.preBalances[at];
    if (gained > 0) found.push({ signature, position: at, asset: 'SOL', amount: String(gained) });
    for (const asset of ['USDC-SPL', 'USDT-SPL']) {
      const place = keys.findIndex((key) => key.pubkey === account(asset, KEY(one)).toBase58());
      const units = (list) => {
        const held = list.find((balance) => balance.accountIndex === place);
        return BigInt(held ? held.uiTokenAmount.amount : 0);
      };
      const more = units(tx.meta.postTokenBalances) - units(tx.meta.preTokenBalances);
      if (place >= 0 && more > 0n) {
        found.push({ signature, position: place, asset, amount: String(more) });
      }
    }
  }
  return found;
}

const ACTS = {
  /** Sends a transaction of these steps from the payer or an owner. Returns its signature. */
  async send({ steps, from }) {
    const sender = from === null ? payer : owner(from);
    const parts = steps.map((one) => step(one, sender));
    const signers = [sender, ...parts.flatMap(([, more]) => more)];
    return send(parts.flatMap(([list]) => list), signers);
  },
  /** Lets this many slots pass. */
  async mine({ slots }) {
    const now = await call('getSlot', { commitment: 'processed' });
    await call('surfnet_timeTravel', { absoluteSlot: now + slots });
    await call('surfnet_pauseClock');
    await until('the slot', async () => await ACTS.slot() >= now + slots - 1);
    return ACTS.slot();
  },
  async slot() {
    return call('getSlot', { commitment: 'confirmed' });
  },
  pool({ from, count }) {
    return Array.from({ length: count }, (_, at) => owner(from + at).publicKey.toBase58());
  },
  account({ token, owner: whose }) {
    return account(token, KEY(whose)).toBase58();
  },
  /** Returns all payments to these addresses. */
  async came({ addresses }) {
    const signatures = new Set();
    for (const address of addresses) {
      const named = [KEY(address), account('USDC-SPL', KEY(address)), account('USDT-SPL', KEY(address))];
      for (const one of named) {
        for (const { signature } of await call('getSignaturesForAddress', one.toBase58(), {})) {
          signatures.add(signature);
        }
      }
    }
    const found = [];
    for (const signature of signatures) found.push(...await credits(signature, addresses));
    return found;
  },
};

async function begin() {
  const rent = 10_000_000;
  await call('surfnet_pauseClock');
  for (const [token, { mint, program }] of Object.entries(TOKENS)) {
    const key = seeded(KEYS[token]);
    const make = {
      fromPubkey: payer.publicKey, newAccountPubkey: mint, space: 82, lamports: rent, programId: program,
    };
    const own = account(token, payer.publicKey);
    await send([
      web3.SystemProgram.createAccount(make),
      spl.createInitializeMint2Instruction(mint, 6, payer.publicKey, null, program),
      spl.createAssociatedTokenAccountIdempotentInstruction(payer.publicKey, own, payer.publicKey, mint, program),
      spl.createMintToInstruction(mint, own, payer.publicKey, 10n ** 15n, [], program),
    ], [payer, key]);
  }
  // Some slots are final.
  await ACTS.mine({ slots: 60 });
}

/** Starts a JSON server on a free port. Returns its URL. */
function serve(answer) {
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', (part) => { text += part; });
    request.on('end', async () => {
      try {
        const told = await answer(text);
        response.setHeader('content-type', 'application/json');
        response.end(told);
      } catch (error) {
        response.statusCode = 500;
        response.end(String(error && error.message));
      }
    });
  });
  server.keepAliveTimeout = 60_000;
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => done(`http://127.0.0.1:${server.address().port}`));
  });
}

/** Forwards to the node and corrects two faults: `minContextSlot` shortens histories, and blocks name wrong parents. */
async function node(text) {
  const asked = JSON.parse(text);
  const { method, params } = asked;
  if (method === 'getSignaturesForAddress') delete params[1].minContextSlot;
  const told = await post(JSON.stringify(asked));
  if (method !== 'getBlock') return told;
  const { result: block, ...answer } = JSON.parse(told);
  if (!block) return told;
  const parentSlot = params[0] - 1;
  const askedParent = { ...asked, params: [parentSlot, params[1]] };
  const { result: parent } = JSON.parse(await post(JSON.stringify(askedParent)));
  const named = parent ? { parentSlot, previousBlockhash: parent.blockhash } : {};
  return JSON.stringify({ ...answer, result: { ...block, ...named } });
}

async function act(text) {
  const { act: name, ...rest } = JSON.parse(text);
  return JSON.stringify({ done: await ACTS[name](rest) });
}

begin().then(async () => {
  const mints = Object.entries(TOKENS).map(([name, { mint }]) => [name, mint.toBase58()]);
  const told = {
    url: await serve(node), control: await serve(act), mints: Object.fromEntries(mints),
    payer: payer.publicKey.toBase58(),
  };
  console.log(JSON.stringify(told));
});
process.stdin.on('end', () => process.exit(0)).resume();
