-- A state database that the agent of commit 9254b7d wrote (schema version 5):
-- two nodes, one of them departed; a node with a child that was created and a
-- sharing provider that somebody else changed; an intent that is open.
BEGIN TRANSACTION;
CREATE TABLE created (uuid text primary key, node_uuid text not null)
    without rowid;
INSERT INTO "created" VALUES('22222222-2222-4222-8222-222222222222','11111111-1111-4111-8111-111111111111');
CREATE TABLE held (
    uuid text, kind text, source text, node_uuid text, names text not null,
    primary key (uuid, kind, source, node_uuid)) without rowid;
INSERT INTO "held" VALUES('11111111-1111-4111-8111-111111111111','trait','driver','11111111-1111-4111-8111-111111111111','["CUSTOM_A"]');
INSERT INTO "held" VALUES('22222222-2222-4222-8222-222222222222','inventory','driver','11111111-1111-4111-8111-111111111111','["VGPU"]');
INSERT INTO "held" VALUES('33333333-3333-4333-8333-333333333333','trait','driver','11111111-1111-4111-8111-111111111111','["CUSTOM_A"]');
INSERT INTO "held" VALUES('33333333-3333-4333-8333-333333333333','trait','file:/etc/nova/provider_config/a.yaml','44444444-4444-4444-8444-444444444444','["CUSTOM_P"]');
CREATE TABLE intent (
    node_uuid text, position integer, uuid text not null,
    kind text, generation integer not null, names text not null,
    added text not null, primary key (node_uuid, position))
    without rowid;
INSERT INTO "intent" VALUES('11111111-1111-4111-8111-111111111111',0,'11111111-1111-4111-8111-111111111111','trait',5,'["CUSTOM_A", "CUSTOM_B", "CUSTOM_C"]','["CUSTOM_C"]');
CREATE TABLE known (
    site integer primary key, traits text not null, classes text not null,
    read_at real not null);
INSERT INTO "known" VALUES(1,'["CUSTOM_A"]','["VCPU", "VGPU"]',1700000000.75);
CREATE TABLE node (
    uuid text primary key, name text not null, title text not null,
    driver text not null, answer text, asked_at real not null)
    without rowid;
INSERT INTO "node" VALUES('11111111-1111-4111-8111-111111111111','node-1','rack1','rack:Rack',NULL,0.0);
INSERT INTO "node" VALUES('44444444-4444-4444-8444-444444444444','node-2','','rack:Rack','no',1700000000.5);
CREATE TABLE ours (
    uuid text, kind text, name text,
    primary key (uuid, kind, name)) without rowid;
INSERT INTO "ours" VALUES('11111111-1111-4111-8111-111111111111','trait','CUSTOM_A');
INSERT INTO "ours" VALUES('22222222-2222-4222-8222-222222222222','inventory','VGPU');
CREATE TABLE reading (
    site integer, uuid text, root_uuid text not null, name text not null,
    parent_uuid text, generation integer not null, content text not null,
    read_at real not null, suspect integer not null,
    primary key (site, uuid)) without rowid;
INSERT INTO "reading" VALUES(1,'11111111-1111-4111-8111-111111111111','11111111-1111-4111-8111-111111111111','node-1',NULL,4,'[{"VCPU": [8, 1, 1, 2147483647, 1, 0.3333333333333333]}, ["CUSTOM_A", "CUSTOM_B"], ["aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"]]',1700000000.25,0);
INSERT INTO "reading" VALUES(1,'22222222-2222-4222-8222-222222222222','11111111-1111-4111-8111-111111111111','node-1_gpu','11111111-1111-4111-8111-111111111111',2,'[{"VGPU": [2, 0, 1, 2147483647, 1, 1.0]}, [], []]',1700000000.25,0);
INSERT INTO "reading" VALUES(1,'33333333-3333-4333-8333-333333333333','33333333-3333-4333-8333-333333333333','pool',NULL,5,'[{}, ["CUSTOM_A"], []]',1700000000.25,1);
CREATE TABLE site (id integer primary key, name text unique not null, providers integer, counted_at real);
INSERT INTO "site" VALUES(1,'here',50000,1700000000.0);
CREATE TABLE was (
    site integer, uuid text, content text not null,
    primary key (site, uuid)) without rowid;
INSERT INTO "was" VALUES(1,'33333333-3333-4333-8333-333333333333','[{}, ["CUSTOM_A", "CUSTOM_P"], []]');
CREATE INDEX intent_uuid on intent (uuid);
CREATE INDEX reading_root on reading (site, root_uuid);
CREATE INDEX created_node on created (node_uuid);
COMMIT;
PRAGMA user_version = 5;
