import { beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../../cli/main.ts';
import { localNames } from '../../../local/names.ts';
import { deploy } from '../../helpers/deployed-stack.ts';
import { testIo } from './cli-io.ts';

const outputs = (value: object) => ({
  Resources: {},
  Outputs: { Names: { Value: JSON.stringify(value) } },
});

async function run(...args: readonly string[]) {
  const io = testIo();
  const exitCode = await main(args, io);
  return { exitCode, notes: io.notes.join('\n') };
}

describe.each(['smoke', 'ls', 'doctor'])('stepwell %s --stack', (command) => {
  beforeEach(() => {
    // Else the SDK asks the network who it is.
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    return () => vi.unstubAllEnvs();
  });

  it('says that there is no such stack', async () => {
    await deploy({ Resources: {}, Outputs: {} });

    expect(await run(command, '--stack', 'Nowhere')).toEqual({
      exitCode: 3,
      notes: 'There is no stack Nowhere in this account and Region',
    });
  });

  it('says that a stack is none of Stepwell', async () => {
    const { name } = await deploy(outputs({ url: 'https://example.com' }));

    const { exitCode, notes } = await run(command, '--stack', name);

    expect(exitCode).toBe(3);
    expect(notes).toContain(`Stack ${name} holds no Stepwell worker`);
  });

  it('says that a stack was deployed by an older release', async () => {
    const { quarantineQueueUrl: _missing, ...names } = localNames('orders', false);
    const { name } = await deploy(outputs(names));

    const { exitCode, notes } = await run(command, '--stack', name);

    expect(exitCode).toBe(2);
    expect(notes).toContain('its output lacks quarantineQueueUrl. Deploy the stack again');
  });

  it('says that there are no credentials', async () => {
    const { name } = await deploy(outputs(localNames('orders', false)));
    for (const variable of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE']) {
      vi.stubEnv(variable, undefined);
    }
    for (const file of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(file, '/nowhere');

    const { exitCode, notes } = await run(command, '--stack', name);

    expect(exitCode).toBe(4);
    expect(notes).toMatch(/^No AWS credentials were found.*aws sts get-caller-identity/);
  });

  it('says that the credentials may not look at the stack, and which policy lets them', async () => {
    const stack = await deploy(outputs(localNames('orders', false)));
    stack.failures.DescribeStacks = 'AccessDenied';

    const { exitCode, notes } = await run(command, '--stack', stack.name);

    expect(exitCode).toBe(4);
    expect(notes).toMatch(/may not do this.*OperatorPolicyArn/s);
  });
});
