/** One attribute value as the DynamoDB JSON protocol carries it: exactly one type tag. */
export type AttributeValue =
  | { S: string }
  | { N: string }
  | { B: string }
  | { BOOL: boolean }
  | { NULL: boolean }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: string[] }
  | { L: AttributeValue[] }
  | { M: Item };

/** An item or a key. Stored items are never mutated, so images may share them. */
export interface Item {
  [name: string]: AttributeValue;
}

/** A document path as the expression parsers give it: the attribute, then map keys and list indexes. */
export type Path = (string | number)[];

/** An operand of a condition: a path, a literal or `size(path)`. */
export type Operand = Path | FunctionCall | AttributeValue;

interface FunctionCall {
  type: 'function';
  name: string;
  args: Operand[];
}

/** A parsed condition, filter or key condition. */
export type Condition =
  | { type: 'and'; args: [Condition, Condition] }
  | { type: 'or'; args: [Condition, Condition] }
  | { type: 'not'; args: [Condition] }
  | { type: '=' | '<>' | '<' | '<=' | '>' | '>=' | 'between' | 'in'; args: Operand[] }
  | FunctionCall;

/** A parsed operand on the right side of `SET`. */
export type UpdateOperand =
  | Path
  | AttributeValue
  | { type: 'add' | 'subtract'; args: [UpdateOperand, UpdateOperand] }
  | { type: 'function'; name: 'if_not_exists'; args: [Path, UpdateOperand] }
  | { type: 'function'; name: 'list_append'; args: [UpdateOperand, UpdateOperand] };

/** One parsed clause of an update expression. */
export type UpdateSection =
  | { type: 'set'; path: Path; val: UpdateOperand }
  | { type: 'remove'; path: Path }
  | { type: 'add' | 'delete'; path: Path; val: AttributeValue };

interface ParsedUpdate {
  sections: UpdateSection[];
  paths: Path[];
  nestedPaths: Record<string, boolean>;
}

export interface ParsedCondition {
  expression: Condition;
  nestedPaths: Record<string, boolean>;
  pathHeads: Record<string, boolean>;
}

interface ParsedProjection {
  paths: Path[];
  nestedPaths: Record<string, boolean>;
}

export type ReturnConsumedCapacity = 'INDEXES' | 'TOTAL' | 'NONE';
export type ReturnOnFailure = 'ALL_OLD' | 'NONE';

interface Expressions {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
}

/** What a conditional write has in common, alone or inside a transaction. */
interface Conditional extends Expressions {
  TableName: string;
  ConditionExpression?: string;
  ReturnValuesOnConditionCheckFailure?: ReturnOnFailure;
  /** Put there by the validation: the parsed condition. */
  _condition?: ParsedCondition;
}

export interface PutAction extends Conditional {
  Item: Item;
}

export interface DeleteAction extends Conditional {
  Key: Item;
}

export interface UpdateAction extends Conditional {
  Key: Item;
  UpdateExpression?: string;
  /** Put there by the validation: the parsed update. */
  _updates?: ParsedUpdate;
}

type ReturnValues = 'NONE' | 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_OLD' | 'UPDATED_NEW';

interface SingleWrite {
  ReturnValues?: ReturnValues;
  ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

export interface PutItemInput extends PutAction, SingleWrite {}
export interface DeleteItemInput extends DeleteAction, SingleWrite {}
export interface UpdateItemInput extends UpdateAction, SingleWrite {}

export interface GetAction extends Expressions {
  TableName: string;
  Key: Item;
  ProjectionExpression?: string;
  _projection?: ParsedProjection;
}

export interface GetItemInput extends GetAction {
  ConsistentRead?: boolean;
  ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

export interface BatchGetItemInput {
  RequestItems: Record<
    string,
    { Keys: Item[]; ConsistentRead?: boolean; _projection?: ParsedProjection; [member: string]: unknown }
  >;
  ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

export interface BatchWriteItemInput {
  RequestItems: Record<string, { PutRequest?: { Item: Item }; DeleteRequest?: { Key: Item } }[]>;
  ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

export interface KeyCondition {
  ComparisonOperator: 'EQ' | 'LT' | 'LE' | 'GT' | 'GE' | 'BETWEEN' | 'BEGINS_WITH';
  AttributeValueList: AttributeValue[];
}

interface Pageable extends Expressions {
  TableName: string;
  IndexName?: string;
  Select?: 'ALL_ATTRIBUTES' | 'ALL_PROJECTED_ATTRIBUTES' | 'COUNT' | 'SPECIFIC_ATTRIBUTES';
  Limit?: number;
  ExclusiveStartKey?: Item;
  ConsistentRead?: boolean;
  ReturnConsumedCapacity?: ReturnConsumedCapacity;
  _filter?: ParsedCondition;
  _projection?: ParsedProjection;
}

export interface QueryInput extends Pageable {
  ScanIndexForward?: boolean;
  /** Put there by the validation: one condition a key attribute. */
  KeyConditions: Record<string, KeyCondition>;
}

export interface ScanInput extends Pageable {
  Segment?: number;
  TotalSegments?: number;
}

/** One action of a transaction; exactly one member is set once validated. */
export interface TransactWriteAction {
  Put?: PutAction;
  Update?: UpdateAction;
  Delete?: DeleteAction;
  ConditionCheck?: DeleteAction;
}

export interface TransactWriteItemsInput {
  TransactItems: TransactWriteAction[];
  ClientRequestToken?: string;
  /** Put there by the validation when there is a token. */
  requestHash?: string;
  ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

export interface TransactGetItemsInput {
  TransactItems: { Get?: GetAction }[];
  ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

export interface KeySchemaElement {
  AttributeName: string;
  KeyType: 'HASH' | 'RANGE';
}

export interface IndexDefinition {
  IndexName: string;
  KeySchema: KeySchemaElement[];
  Projection: { ProjectionType: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'; NonKeyAttributes?: string[] };
}

export type StreamViewType = 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES' | 'KEYS_ONLY';

export interface CreateTableInput {
  TableName: string;
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[];
  KeySchema: KeySchemaElement[];
  BillingMode?: 'PROVISIONED' | 'PAY_PER_REQUEST';
  ProvisionedThroughput?: { ReadCapacityUnits: number; WriteCapacityUnits: number };
  GlobalSecondaryIndexes?: IndexDefinition[];
  LocalSecondaryIndexes?: IndexDefinition[];
  StreamSpecification?: { StreamEnabled: boolean; StreamViewType?: StreamViewType };
  SSESpecification?: { Enabled?: boolean; SSEType?: string; KMSMasterKeyId?: string };
  DeletionProtectionEnabled?: boolean;
  Tags?: { Key: string; Value: string }[];
}
