/** What is used of the client. Loaded by name, so that all else of it stays out of the bundle. */
export { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
