package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

const source = "platform"

// An event as the platform signs it, with the whole body for the log.
type event struct {
	EventID   string `json:"event_id"`
	EventType string `json:"event_type"`
	Timestamp *int64 `json:"timestamp"`
	Data      struct {
		OrderID string   `json:"order_id"`
		Amount  *float64 `json:"amount"`
	} `json:"data"`
}

// callback is an event as it was received.
type callback struct {
	event   event
	body    []byte
	headers http.Header
	started time.Time
}

func parse(body []byte) (event, error) {
	var parsed event
	if err := json.Unmarshal(body, &parsed); err != nil {
		return parsed, err
	}
	if parsed.EventID == "" || parsed.EventType == "" || parsed.Timestamp == nil ||
		parsed.Data.OrderID == "" || parsed.Data.Amount == nil {
		return parsed, errors.New("a field is missing")
	}
	return parsed, nil
}

func (c callback) result() (string, error) {
	return text(map[string]any{"order_id": c.event.Data.OrderID})
}

func (c callback) recordValues(now any) ([]any, error) {
	digest := sha256.Sum256(c.body)
	result, err := c.result()
	return []any{source, c.event.EventID, c.event.EventType, "v1", "completed", hex.EncodeToString(digest[:]), result, now, now}, err
}

func (c callback) orderValues(now any) []any {
	return []any{c.event.Data.OrderID, "paid", *c.event.Data.Amount, c.event.EventID, now}
}

func (c callback) notificationValues(now any) ([]any, error) {
	payload, err := text(map[string]any{
		"order_id": c.event.Data.OrderID, "amount": *c.event.Data.Amount, "event_id": c.event.EventID,
	})
	return []any{source, c.event.EventID, 1, "order.paid", payload, now}, err
}

// answer returns the outcome, the response's body, and whether the log row belongs to a new record.
func (c callback) answer(isNew bool) (outcome string, body string, withRecord int, err error) {
	if !isNew {
		return "already_processed", `{"status":"already_processed"}`, 0, nil
	}
	body, err = text(map[string]any{
		"status": "success", "data": map[string]any{"order_id": c.event.Data.OrderID},
	})
	return "success", body, 1, err
}

func (c callback) logValues(now any, isNew bool) (values []any, answer string, err error) {
	outcome, answer, withRecord, err := c.answer(isNew)
	if err != nil {
		return nil, "", err
	}
	id, err := requestID()
	if err != nil {
		return nil, "", err
	}
	var whole any
	if err = json.Unmarshal(c.body, &whole); err != nil {
		return nil, "", err
	}
	body, err := text(masked(whole))
	if err != nil {
		return nil, "", err
	}
	headers := make(map[string]string, len(c.headers))
	for name := range c.headers {
		headers[name] = c.headers.Get(name)
	}
	headers["X-Signature"] = "***"
	head, err := text(headers)
	duration := float64(time.Since(c.started).Microseconds()) / 1000
	return []any{
		id, now, source, c.event.EventID, c.event.EventType, http.MethodPost, path, "127.0.0.1",
		head, body, outcome, http.StatusOK, answer, duration, withRecord,
	}, answer, err
}

var secretNames = regexp.MustCompile(`(?i)password|secret|token|card|cvc|iban|authorization`)

// masked hides values by the names of their keys, as the other hand-written contenders do.
func masked(value any) any {
	switch inner := value.(type) {
	case map[string]any:
		for name, member := range inner {
			if secretNames.MatchString(name) {
				inner[name] = "***"
			} else {
				inner[name] = masked(member)
			}
		}
	case []any:
		for index := range inner {
			inner[index] = masked(inner[index])
		}
	}
	return value
}

func text(value any) (string, error) {
	encoded, err := json.Marshal(value)
	return string(encoded), err
}

// requestID is a random UUID.
func requestID() (string, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", err
	}
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:]), nil
}
