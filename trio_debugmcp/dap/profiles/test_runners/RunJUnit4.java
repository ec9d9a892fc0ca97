import org.junit.internal.TextListener;
import org.junit.internal.RealSystem;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;

/** Runs the tests of a class, or one method of it: RunJUnit4 CLASS [METHOD]. */
public class RunJUnit4 {
    public static void main(String[] args) throws ClassNotFoundException {
        Class<?> tests = Class.forName(args[0]);
        JUnitCore core = new JUnitCore();
        core.addListener(new TextListener(new RealSystem()));
        Request wanted = args.length > 1 ? Request.method(tests, args[1]) : Request.aClass(tests);
        System.exit(core.run(wanted).wasSuccessful() ? 0 : 1);
    }
}
