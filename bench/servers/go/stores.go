package main

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"github.com/jackc/pgx/v4/pgxpool"
	_ "github.com/mattn/go-sqlite3"
)

const isoTime = "2006-01-02T15:04:05.000Z"

// An execution of one statement returns how many rows it changed.
type execution func(statement string, values []any) (int64, error)

// writeAll looks the event's id up by inserting its record: a duplicate writes nothing but its log row.
func writeAll(sql statements, received callback, now any, execute execution) (string, error) {
	values, err := received.recordValues(now)
	if err != nil {
		return "", err
	}
	inserted, err := execute(sql.Record, values)
	if err != nil {
		return "", err
	}
	if inserted == 1 {
		if _, err = execute(sql.Order, received.orderValues(now)); err != nil {
			return "", err
		}
		if values, err = received.notificationValues(now); err != nil {
			return "", err
		}
		if _, err = execute(sql.Notification, values); err != nil {
			return "", err
		}
	}
	values, answer, err := received.logValues(now, inserted == 1)
	if err != nil {
		return "", err
	}
	_, err = execute(sql.Callback, values)
	return answer, err
}

type postgresStore struct {
	pool *pgxpool.Pool
	sql  statements
}

// pgx prepares each statement once a connection, and keeps it.
func openPostgres(url string, size string, sql statements) (store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	connections, err := strconv.Atoi(size)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(connections)
	pool, err := pgxpool.ConnectConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &postgresStore{pool, sql}, nil
}

func (s *postgresStore) write(ctx context.Context, received callback) (string, error) {
	transaction, err := s.pool.Begin(ctx)
	if err != nil {
		return "", err
	}
	// After a commit this does nothing.
	defer func() { _ = transaction.Rollback(context.Background()) }()
	execute := func(statement string, values []any) (int64, error) {
		tag, err := transaction.Exec(ctx, statement, values...)
		return tag.RowsAffected(), err
	}
	answer, err := writeAll(s.sql, received, time.Now(), execute)
	if err != nil {
		return "", err
	}
	return answer, transaction.Commit(ctx)
}

type sqliteStore struct {
	database *sql.DB
	sql      statements
	prepared map[string]*sql.Stmt
}

// One connection is the one writer that SQLite has; callbacks wait for it in order.
func openSqlite(file string, texts statements) (store, error) {
	options := "?_journal_mode=WAL&_synchronous=FULL&_txlock=immediate&_busy_timeout=5000"
	database, err := sql.Open("sqlite3", "file:"+file+options)
	if err != nil {
		return nil, err
	}
	database.SetMaxOpenConns(1)
	prepared := make(map[string]*sql.Stmt)
	for _, text := range []string{texts.Record, texts.Order, texts.Notification, texts.Callback} {
		if prepared[text], err = database.Prepare(text); err != nil {
			return nil, err
		}
	}
	return &sqliteStore{database, texts, prepared}, nil
}

func (s *sqliteStore) write(ctx context.Context, received callback) (string, error) {
	transaction, err := s.database.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = transaction.Rollback() }()
	execute := func(statement string, values []any) (int64, error) {
		result, err := transaction.Stmt(s.prepared[statement]).Exec(values...)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	answer, err := writeAll(s.sql, received, time.Now().UTC().Format(isoTime), execute)
	if err != nil {
		return "", err
	}
	return answer, transaction.Commit()
}
