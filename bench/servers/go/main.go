// A receiver of payments as a careful team writes it by hand in Go: net/http, the HMAC of the raw body in constant time,
// and the four writes of an event in one transaction. The benchmark gives it tables and statements, which are those of
// the other contenders.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const (
	path         = "/api/platform/callback"
	maxBodyBytes = 1 << 20
	stopLimit    = 5 * time.Second
)

// statements are the SQL of the four writes; their parameters are in the order of payment.go.
type statements struct {
	Record       string `json:"record"`
	Order        string `json:"order"`
	Notification string `json:"notification"`
	Callback     string `json:"callback"`
}

// A store keeps an event at most once, and returns the response's body once the event is durable.
type store interface {
	write(ctx context.Context, received callback) (string, error)
}

type receiver struct {
	secret []byte
	wait   time.Duration
	store  store
}

func main() {
	var sql statements
	if err := json.Unmarshal([]byte(os.Getenv("BENCH_STATEMENTS")), &sql); err != nil {
		log.Fatalf("BENCH_STATEMENTS: %v", err)
	}
	opened, err := openStore(sql)
	if err != nil {
		log.Fatal(err)
	}
	waitMs, _ := strconv.Atoi(os.Getenv("BENCH_WAIT_MS"))
	handler := &receiver{
		secret: []byte(os.Getenv("SIGNING_SECRET")),
		wait:   time.Duration(waitMs) * time.Millisecond,
		store:  opened,
	}
	routes := http.NewServeMux()
	routes.Handle(path, handler)
	server := &http.Server{
		Addr:              "127.0.0.1:" + os.Getenv("PORT"),
		Handler:           routes,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
		<-signals
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		_ = server.Shutdown(ctx)
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	<-stopped
}

func openStore(sql statements) (store, error) {
	if url := os.Getenv("DATABASE_URL"); url != "" {
		return openPostgres(url, os.Getenv("BENCH_POOL_SIZE"), sql)
	}
	return openSqlite(os.Getenv("DATABASE_FILE"), sql)
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	started := time.Now()
	if request.Method != http.MethodPost {
		respond(w, http.StatusMethodNotAllowed, `{"status":"error","message":"POST is expected"}`)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBodyBytes))
	if err != nil {
		respond(w, http.StatusRequestEntityTooLarge, `{"status":"error","message":"the body cannot be read"}`)
		return
	}
	if !r.isSigned(body, request.Header.Get("X-Signature")) {
		respond(w, http.StatusUnauthorized, `{"status":"error","message":"invalid signature"}`)
		return
	}
	event, err := parse(body)
	if err != nil {
		respond(w, http.StatusBadRequest, `{"status":"error","message":"not an event"}`)
		return
	}
	// Go keeps it apart; the log of the other contenders has it among the headers.
	request.Header.Set("Host", request.Host)
	if r.wait > 0 {
		time.Sleep(r.wait)
	}
	answer, err := r.store.write(request.Context(), callback{event, body, request.Header, started})
	if err != nil {
		log.Print(err)
		respond(w, http.StatusInternalServerError, `{"status":"error","message":"internal error"}`)
		return
	}
	respond(w, http.StatusOK, answer)
}

func (r *receiver) isSigned(body []byte, claimed string) bool {
	mac, err := hex.DecodeString(claimed)
	if err != nil {
		return false
	}
	expected := hmac.New(sha256.New, r.secret)
	expected.Write(body)
	return hmac.Equal(expected.Sum(nil), mac)
}

func respond(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
